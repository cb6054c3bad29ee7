"""Where in the data a msgspec error lies: its paths say `[...]` for any value of a mapping, a person wants the key."""

from __future__ import annotations

import re
import types
import typing
from typing import Annotated, Any, Literal, NamedTuple, Union

import msgspec

_ERROR = re.compile(r"^(?P<what>.*?)(?: - at (?:`key` in )?`\$(?P<path>[^`]*)`)?$", re.DOTALL)
_STEP = re.compile(r"\.(?P<field>[^.\[]+)|\[(?P<index>\d+)\]|(?P<any>\[\.\.\.\])")
_UNKNOWN = re.compile(r"^Object contains unknown field `(?P<key>.*)`$", re.DOTALL)
_MISSING = re.compile(r"^Object missing required field `(?P<key>.*)`$")
_ENUM = "Invalid enum value"
_WORDS = {"object": "a mapping", "array": "a list", "str": "text", "int": "a whole number", "float": "a number"}


class Fault(NamedTuple):
    path: list[str | int]
    what: str
    unknown_key: str | None = None
    unknown_value: str | None = None
    known: tuple[str, ...] = ()
    """What could stand in place of the unknown one."""


def locate(message: str, data: Any, kind: Any) -> Fault:
    parts = _ERROR.match(message)
    assert parts is not None
    path: list[str | int] = []
    for step in _STEP.finditer(parts["path"] or ""):
        tags = _tags(kind, data)
        kind = _fitting(kind, data)
        if step["field"]:
            key: str | int = step["field"]
            if tags and key == tags.field:
                return Fault([*path, key], "no such value", unknown_value=str(data[key]), known=tags.known)
            kind = typing.get_type_hints(kind, include_extras=True)[_attribute(kind, step["field"])]
        elif step["index"]:
            key = int(step["index"])
            kind = _item_kind(kind, key)
        else:
            kind = typing.get_args(kind)[1]
            key = next(name for name, value in data.items() if not _fits(value, kind))
        path.append(key)
        data = data[key]
    return _described(path, parts["what"], _fitting(kind, data))


def _described(path: list[str | int], what: str, kind: Any) -> Fault:
    if unknown := _UNKNOWN.match(what):
        known = tuple(field.encode_name for field in msgspec.structs.fields(kind))
        return Fault(path, what, unknown_key=unknown["key"], known=known)
    if missing := _MISSING.match(what):
        return Fault(path, f"the key `{missing['key']}` is missing")
    if what.startswith(_ENUM) and (allowed := _words(kind)):
        value = what.removeprefix(_ENUM).strip().strip("'")
        return Fault(path, "no such value", unknown_value=value, known=allowed)
    return Fault(path, _plain(what))


def _plain(what: str) -> str:
    """`Expected `object | null`, got `str`` in the words of the file's author."""

    def word(match: re.Match[str]) -> str:
        return " or ".join(_WORDS.get(name, f"`{name}`") for name in match[1].split(" | "))

    told = re.sub(r"`([a-z]+(?: \| [a-z]+)*)`", word, what)
    return told[:1].lower() + told[1:]


def _attribute(kind: Any, encoded: str) -> str:
    return next(field.name for field in msgspec.structs.fields(kind) if field.encode_name == encoded)


def _item_kind(kind: Any, index: int) -> Any:
    arguments = typing.get_args(kind)
    fixed = typing.get_origin(kind) is tuple and arguments[-1] is not Ellipsis
    return arguments[index] if fixed else arguments[0]


def _fitting(kind: Any, data: Any) -> Any:
    """Of a union, the member that data of this shape was held against."""
    if typing.get_origin(kind) is Annotated:
        return _fitting(typing.get_args(kind)[0], data)
    if typing.get_origin(kind) not in (Union, types.UnionType):
        return kind
    members = [_fitting(member, data) for member in typing.get_args(kind)]
    if isinstance(data, dict):
        shaped = [m for m in members if typing.get_origin(m) is dict or hasattr(m, "__struct_fields__")]
        tags = _tags(kind, data)
        chosen = data.get(tags.field) if tags else None
        shaped = [m for m in shaped if _tag(m)[1] == chosen] or shaped
    elif isinstance(data, str):
        shaped = [m for m in members if typing.get_origin(m) is Literal]
    else:
        shaped = [m for m in members if typing.get_origin(m) in (list, tuple)]
    return shaped[0] if shaped else kind


class _Tags(NamedTuple):
    field: str
    known: tuple[str, ...]


def _tags(kind: Any, data: Any) -> _Tags | None:
    """The key that tells which member of a union a mapping is, and what can stand there."""
    if typing.get_origin(kind) is Annotated:
        return _tags(typing.get_args(kind)[0], data)
    if not isinstance(data, dict):
        return None
    is_union = typing.get_origin(kind) in (Union, types.UnionType)
    told = [_tag(member) for member in (typing.get_args(kind) if is_union else (kind,))]
    known = tuple(tag for field, tag in told if field)
    return _Tags(next(field for field, _ in told if field), known) if known else None


def _tag(kind: Any) -> tuple[str, str]:
    config = getattr(kind, "__struct_config__", None)
    return (config.tag_field, str(config.tag)) if config is not None and config.tag is not None else ("", "")


def _words(kind: Any) -> tuple[str, ...]:
    if typing.get_origin(kind) is Literal:
        return tuple(map(str, typing.get_args(kind)))
    if typing.get_origin(kind) is dict:
        return _words(typing.get_args(kind)[0])
    return ()


def _fits(data: Any, kind: Any) -> bool:
    try:
        msgspec.convert(data, kind)
    except msgspec.ValidationError:
        return False
    return True
