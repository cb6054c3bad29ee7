"""One conjunction in normal form: for each attribute it speaks of, the set of values that satisfy it.

Attributes are independent, so a satisfiable conjunction covers another exactly if each of its sets covers the other's
set for the same attribute, and two conjunctions have a content in common exactly if their sets meet.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import cast

from node.core.filters.attr.numbers import Number, NumberSet, number_set
from node.core.filters.attr.strings import StringSet, string_set
from node.core.filters.attr.syntax import Constraint, Scalar

# None: any value of any type. A bool: that one; no conjunction describes both booleans and nothing else.
ValueSet = NumberSet | StringSet | bool | None
# Is called with the value of an attribute that is there.
Test = Callable[[object], bool]


class Conjunction:
    __slots__ = ("sets", "tests", "text")

    def __init__(self, sets: dict[str, ValueSet]) -> None:
        self.sets = sets
        self.tests: tuple[tuple[str, Test], ...] = tuple((name, _test(values)) for name, values in sets.items())
        self.text = " and ".join(term for name, values in sets.items() for term in _terms(name, values))

    def covers(self, other: Conjunction) -> bool:
        others = other.sets
        if len(self.sets) > len(others):
            return False
        for name, values in self.sets.items():  # noqa: SIM110 - the hot path of covering; a generator costs more
            if name not in others or not _covers(values, others[name]):
                return False
        return True

    def intersects(self, other: Conjunction) -> bool:
        others = other.sets
        return all(_meets(values, others[name]) for name, values in self.sets.items() if name in others)

    def union(self, other: Conjunction) -> Conjunction | None:
        """One conjunction that is satisfied exactly if one of the two is; None if none is found."""
        if self.covers(other):
            return self
        if other.covers(self):
            return other
        if self.sets.keys() != other.sets.keys():
            return None
        differing = [name for name, values in self.sets.items() if values != other.sets[name]]
        if len(differing) != 1:
            return None
        values = _union(self.sets[differing[0]], other.sets[differing[0]])
        return None if values is None else Conjunction({**self.sets, differing[0]: values})


def conjunction(constraints: Iterable[Constraint]) -> Conjunction | None:
    """The normal form; none if no content can satisfy all the constraints."""
    by_name: dict[str, list[Constraint]] = {}
    for constraint in constraints:
        by_name.setdefault(constraint.name, []).append(constraint)
    sets: dict[str, ValueSet] = {}
    for name in sorted(by_name):
        terms = [(each.operator, each.value) for each in by_name[name] if each.value is not None]
        if not terms:
            sets[name] = None
            continue
        values = _value_set(terms)
        if values is None:
            return None
        sets[name] = values
    return Conjunction(sets)


def _value_set(terms: list[tuple[str, Scalar]]) -> NumberSet | StringSet | bool | None:
    kinds = {float if type(value) is int else type(value) for _, value in terms}
    if len(kinds) > 1:
        return None
    if kinds == {bool}:
        wanted = {value == (operator == "=") for operator, value in terms}
        return wanted.pop() if len(wanted) == 1 else None
    if kinds == {str}:
        return string_set(cast(list[tuple[str, str]], terms))
    return number_set(cast(list[tuple[str, Number]], terms))


def _covers(mine: ValueSet, other: ValueSet) -> bool:
    if mine is None:
        return True
    if isinstance(mine, NumberSet):
        return isinstance(other, NumberSet) and mine.covers(other)
    if isinstance(mine, StringSet):
        return isinstance(other, StringSet) and mine.covers(other)
    return mine is other


def _meets(mine: ValueSet, other: ValueSet) -> bool:
    if mine is None or other is None:
        return True
    if isinstance(mine, NumberSet):
        return isinstance(other, NumberSet) and mine.meets(other)
    if isinstance(mine, StringSet):
        return isinstance(other, StringSet) and mine.meets(other)
    return mine is other


def _union(mine: ValueSet, other: ValueSet) -> NumberSet | StringSet | None:
    if isinstance(mine, NumberSet) and isinstance(other, NumberSet):
        return mine.union(other)
    if isinstance(mine, StringSet) and isinstance(other, StringSet):
        return mine.union(other)
    return None


def _terms(name: str, values: ValueSet) -> list[str]:
    if values is None:
        return [f"{name} exists"]
    if isinstance(values, NumberSet):
        return [f"{name} {operator} {value!r}" for operator, value in values.terms()]
    if isinstance(values, StringSet):
        return [f"{name} {operator} {_quoted(value)}" for operator, value in values.terms()]
    return [f"{name} = {'true' if values else 'false'}"]


def _tests(sets: dict[str, ValueSet]) -> tuple[tuple[str, Test], ...]:
    """What a present value must pass, name by name; equalities first, because they fail most often."""
    by_selectivity = sorted(sets, key=lambda name: not _is_single(sets[name]))
    return tuple((name, _test(sets[name])) for name in by_selectivity)


def _is_single(values: ValueSet) -> bool:
    return values is not None and (isinstance(values, bool) or values.is_single)


def _test(values: ValueSet) -> Test:
    if values is None:
        return lambda value: True
    if isinstance(values, bool):
        return lambda value: value is values
    return values.test()


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=not text.isprintable())
