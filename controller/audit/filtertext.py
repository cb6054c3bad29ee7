"""The audit's own reading of attribute filters. It shares no code with the brokers: a matcher must not judge itself."""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from controller.audit.values import BOOLEAN, STRING, Encoded, encode

_SPACE = r"[ \t\r\n]"
_NAME = r"[A-Za-z][A-Za-z0-9_.-]*"
_STRING = r'"(?:[^"\\\x00-\x1f]|\\.)*"'
_NUMBER = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
_CONSTRAINT = re.compile(
    rf"(?P<name>{_NAME})"
    rf"(?:{_SPACE}+(?P<exists>exists)"
    rf"|(?:{_SPACE}*(?P<sign>!=|<=|>=|=|<|>){_SPACE}*|{_SPACE}+(?P<word>prefix|suffix|contains){_SPACE}+)"
    rf"(?P<value>{_STRING}|{_NUMBER}|true|false))"
    rf"(?={_SPACE}|\Z)"
)
_CONNECTIVE = re.compile(rf"{_SPACE}+(?P<word>and|or){_SPACE}+")
_ORDER = frozenset({"<", "<=", ">", ">="})
_TEXTUAL = frozenset({"prefix", "suffix", "contains"})


class Constraint(NamedTuple):
    name: str
    op: str
    value: Encoded


class FilterError(ValueError):
    pass


def parse(text: str) -> list[list[Constraint]]:
    """The disjuncts of a filter; `*` is one disjunct without a constraint."""
    body = text.strip(" \t\r\n")
    if body == "*":
        return [[]]
    disjuncts: list[list[Constraint]] = [[]]
    position = 0
    while True:
        found = _CONSTRAINT.match(body, position)
        if found is None:
            raise FilterError(f"no constraint at {body[position : position + 20]!r}")
        disjuncts[-1].append(_constraint(found))
        position = found.end()
        if position == len(body):
            return disjuncts
        joint = _CONNECTIVE.match(body, position)
        if joint is None:
            raise FilterError(f"neither `and` nor `or` at {body[position : position + 20]!r}")
        if joint["word"] == "or":
            disjuncts.append([])
        position = joint.end()


def _constraint(found: re.Match[str]) -> Constraint:
    if found["exists"]:
        return Constraint(found["name"], "exists", Encoded(""))
    op = found["sign"] or found["word"]
    try:
        value = encode(json.loads(found["value"]))
    except ValueError as problem:
        raise FilterError(f"{found['value']} is no value: {problem}") from problem
    if (op in _TEXTUAL and value.kind != STRING) or (op in _ORDER and value.kind == BOOLEAN):
        raise FilterError(f"{op} cannot take {found['value']}")
    return Constraint(found["name"], op, value)
