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
    known_keys: tuple[str, ...] = ()


def locate(message: str, data: Any, kind: Any) -> Fault:
    parts = _ERROR.match(message)
    assert parts is not None
    path: list[str | int] = []
    for step in _STEP.finditer(parts["path"] or ""):
        kind = _fitting(kind, data)
        if step["field"]:
            key: str | int = step["field"]
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
        return Fault(path, what, unknown["key"], known)
    if missing := _MISSING.match(what):
        return Fault(path, f"the key `{missing['key']}` is missing")
    if typing.get_origin(kind) is Literal and what.startswith(_ENUM):
        allowed = ", ".join(map(str, typing.get_args(kind)))
        return Fault(path, f"no such value:{what.removeprefix(_ENUM)}; known: {allowed}")
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
    else:
        shaped = [m for m in members if typing.get_origin(m) in (list, tuple)]
    return shaped[0] if shaped else kind


def _fits(data: Any, kind: Any) -> bool:
    try:
        msgspec.convert(data, kind)
    except msgspec.ValidationError:
        return False
    return True
