"""Log lines as typed records, and filters as functions of a content."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache, reduce
from operator import or_
from typing import Any

import msgspec

from controller.audit import filtertext, patterns, values
from controller.audit.filtertext import Constraint
from node.core.records import RECORDS, Content, Record

Condition = Callable[[Content], bool]

_decoder = msgspec.json.Decoder(reduce(or_, RECORDS))

_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
_SEARCH: dict[str, Callable[[str, str], bool]] = {
    "prefix": str.startswith, "suffix": str.endswith, "contains": operator.contains,
}  # fmt: skip


class Unreadable(ValueError):
    """A filter that nobody can judge by."""


def records(logs: Iterable[bytes]) -> list[Record]:
    """All lines of some logs, in order of time; raises msgspec's errors for a line that is none."""
    found = [_decoder.decode(line) for log in logs for line in log.splitlines()]
    return sorted(found, key=lambda line: (line.t, line.n, line.node))


@lru_cache(maxsize=8192)
def condition(text: str, lang: str) -> Condition:
    return _of_attributes(text) if lang == "attr" else _of_documents(text)


def _of_attributes(text: str) -> Condition:
    try:
        disjuncts = filtertext.parse(text)
    except filtertext.FilterError as error:
        raise Unreadable(str(error)) from None

    def holds(content: Content) -> bool:
        return isinstance(content, dict) and any(
            all(_satisfies(constraint, content) for constraint in disjunct) for disjunct in disjuncts
        )

    return holds


def _satisfies(constraint: Constraint, content: Mapping[str, values.Value]) -> bool:
    name, op, wanted = constraint
    if name not in content:
        return False
    if op == "exists":
        return True
    given = values.encode(content[name])
    if given.kind != wanted.kind:
        return False
    if op in _SEARCH:
        return _SEARCH[op](given.text, wanted.text)
    # All fields but the kind: of a number the nearest double, then what is missing to its exact value.
    return _COMPARE[op](given[1:], wanted[1:])


def _of_documents(text: str) -> Condition:
    try:
        pattern = patterns.pattern(text)
    except patterns.PatternError as error:
        raise Unreadable(str(error)) from None

    def holds(content: Content) -> bool:
        return isinstance(content, str) and bool(pattern(_document(content)))

    return holds


@lru_cache(maxsize=1024)
def _document(text: str) -> Any:
    return patterns.document(text)
