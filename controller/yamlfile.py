"""YAML files into typed data; whatever is wrong with one is told as FILE:LINE:COLUMN."""

from __future__ import annotations

import difflib
import re
from collections.abc import Hashable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

import msgspec
import yaml

from controller import yamltypes
from controller.errors import UsageError

T = TypeVar("T")
Step = str | int
DEPTH_MAX = 40
KNOWN_MAX = 40

_TAG = "tag:yaml.org,2002:"


class _Loader(yaml.SafeLoader):
    """YAML 1.2's plain scalars: `no` and `on` are words, `1e3` is a number, `12:30` is neither a time nor base 60."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 - declared so by its base
    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        event = self.peek_event()
        mark = cast("yaml.error.Mark | None", event.start_mark)
        if isinstance(event, yaml.AliasEvent):
            raise yaml.MarkedYAMLError(problem="aliases are not read here; write the value out", problem_mark=mark)
        if self.depth >= DEPTH_MAX:
            raise yaml.MarkedYAMLError(problem=f"nested deeper than {DEPTH_MAX} levels", problem_mark=mark)
        self.depth += 1
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


_Loader.add_implicit_resolver(f"{_TAG}null", re.compile(r"^(?:~|null|)$"), ["~", "n", ""])
_Loader.add_implicit_resolver(f"{_TAG}bool", re.compile(r"^(?:true|false)$"), list("tf"))
_Loader.add_implicit_resolver(f"{_TAG}int", re.compile(r"^[-+]?[0-9]+$"), list("-+0123456789"))
_Loader.add_implicit_resolver(
    f"{_TAG}float",
    re.compile(r"^(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?)$"),
    list("-+.0123456789"),
)


class Document:
    """One file's data beside the places it came from."""

    def __init__(self, node: yaml.Node) -> None:
        self._node = node
        self.data = self._construct(node)

    def convert(self, kind: type[T]) -> T:
        try:
            return msgspec.convert(self.data, kind)
        except msgspec.ValidationError as error:
            raise self._explained(error, kind) from None

    def problem(self, path: Sequence[Step], what: str) -> UsageError:
        """An error that points at what stands under `path`, or as near to it as the file goes."""
        return self._at(self._find(path), what)

    def part(self, path: Sequence[Step]) -> Document:
        """What stands under `path` as a document of its own; an empty mapping if nothing does."""
        node: Document = self
        for step in path:
            held = isinstance(node.data, list) or (isinstance(node.data, dict) and step in node.data)
            node = Document(node._find([step]) if held else _empty(node._node))
        return node

    def grafted(self, path: Sequence[str], other: Document, other_path: Sequence[Step] = ()) -> Document:
        """This document with what stands in the other one put under `path`; errors in it point where it came from."""
        return Document(_with(self._node, path, other._find(other_path)) or self._node)

    def without(self, key: str) -> Document:
        return Document(_with(self._node, [key], None) or self._node)

    def _explained(self, error: msgspec.ValidationError, kind: type) -> UsageError:
        fault = yamltypes.locate(str(error), self.data, kind)
        node = self._find(fault.path)
        if fault.unknown_key is not None:
            node = next(key for key, _ in node.value if key.value == fault.unknown_key)
        return self._at(node, in_words(fault))

    def _find(self, path: Sequence[Step]) -> yaml.Node:
        node = self._node
        for step in path:
            if isinstance(node, yaml.MappingNode):
                found = [value for key, value in node.value if key.value == step]
            elif isinstance(node, yaml.SequenceNode) and isinstance(step, int):
                found = node.value[step : step + 1]
            else:
                found = []
            if not found:
                break
            node = found[0]
        return node

    def _at(self, node: yaml.Node, what: str) -> UsageError:
        mark = node.start_mark
        return _problem(mark.name, mark.line, mark.column, what)

    def _construct(self, node: yaml.Node) -> Any:
        if isinstance(node, yaml.MappingNode) and node.tag == f"{_TAG}map":
            return self._mapping(node)
        if isinstance(node, yaml.SequenceNode) and node.tag == f"{_TAG}seq":
            return [self._construct(item) for item in node.value]
        return self._scalar(node)

    def _mapping(self, node: yaml.MappingNode) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = self._construct(key_node) if isinstance(key_node, yaml.ScalarNode) else None
            if not isinstance(key, str):
                raise self._at(key_node, "a key must be text; put it in quotes if it looks like something else")
            if key in made:
                raise self._at(key_node, f"`{key}` stands here a second time; keep one of the two")
            made[key] = self._construct(value_node)
        return made

    def _scalar(self, node: yaml.Node) -> Hashable:
        text, tag = node.value, node.tag.removeprefix(_TAG)
        try:
            if tag == "str":
                return str(text)
            if tag == "int":
                return int(text)
            if tag == "float":
                return float(text)
        except ValueError:
            raise self._at(node, f"`{text[:20]}` is not a number that can be read") from None
        if tag == "bool" and text in ("true", "false"):
            return bool(text == "true")
        if tag == "null":
            return None
        raise self._at(node, f"the tag `{node.tag}` is not read here; write plain text, numbers, lists and mappings")


def read(path: Path) -> Document:
    try:
        text = path.read_bytes().decode()
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}; name a YAML file") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: byte {error.start} is not UTF-8; save the file as UTF-8 text") from None
    return parse(text, str(path))


def parse(text: str, source: str) -> Document:
    try:
        loader = _Loader(text)
        loader.name = source
        node = loader.get_single_node()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        told = ", ".join(filter(None, (error.problem, error.context)))
        raise _problem(source, mark.line if mark else 0, mark.column if mark else 0, f"not YAML: {told}") from None
    except yaml.reader.ReaderError as error:
        before = text[: error.position]
        column = len(before) - (before.rfind("\n") + 1)
        what = f"not YAML: the character {error.character!r} is not allowed; remove it"
        raise _problem(source, before.count("\n"), column, what) from None
    if node is None:
        raise _problem(source, 0, 0, "the file is empty; it should hold a mapping of keys to values")
    return Document(node)


def load(path: Path, kind: type[T]) -> T:
    return read(path).convert(kind)


def in_words(fault: yamltypes.Fault) -> str:
    """What is wrong, and what would be right; where it is, the caller knows how to say."""
    if fault.unknown_value is not None:
        return f"{fault.what}: `{fault.unknown_value}`; {known(fault.unknown_value, fault.known)}"
    if fault.unknown_key is not None:
        return f"unknown key `{fault.unknown_key}`; {known(fault.unknown_key, fault.known)}"
    return fault.what


def known(name: str, names: Iterable[str]) -> str:
    """What to answer to an unknown name: a close one if there is any, then all of them."""
    listed = sorted(names)
    close = difflib.get_close_matches(name, listed, n=1)
    meant = f"did you mean `{close[0]}`? " if close else ""
    more = f" and {len(listed) - KNOWN_MAX} more" if len(listed) > KNOWN_MAX else ""
    return f"{meant}known: {', '.join(listed[:KNOWN_MAX])}{more}" if listed else "there is none"


def _empty(beside: yaml.Node) -> yaml.Node:
    return yaml.MappingNode(f"{_TAG}map", [], beside.start_mark, beside.end_mark)


def _with(node: yaml.Node, path: Sequence[str], value: yaml.Node | None) -> yaml.Node | None:
    """A copy in which `value` stands under `path`, or nothing; mappings on the way are made where they are missing.

    In a list a step is the number of an item that is there, from 0.
    """
    if not path:
        return value
    if isinstance(node, yaml.SequenceNode) and path[0].isdecimal() and int(path[0]) < len(node.value):
        items = list(node.value)
        changed = _with(items[int(path[0])], path[1:], value)
        items[int(path[0]) : int(path[0]) + 1] = [] if changed is None else [changed]
        return yaml.SequenceNode(f"{_TAG}seq", items, node.start_mark, node.end_mark)
    pairs = list(node.value) if isinstance(node, yaml.MappingNode) else []
    index = next((index for index, (key, _) in enumerate(pairs) if key.value == path[0]), len(pairs))
    marks = (node.start_mark, node.end_mark)
    new = (yaml.ScalarNode(f"{_TAG}str", path[0], *marks), _empty(node))
    key, below = pairs[index] if index < len(pairs) else new
    changed = _with(below, path[1:], value)
    pairs[index : index + 1] = [] if changed is None else [(key, changed)]
    return yaml.MappingNode(f"{_TAG}map", pairs, *marks)


def _problem(source: str, line: int, column: int, what: str) -> UsageError:
    return UsageError(f"{source}:{line + 1}:{column + 1}: {what}")
