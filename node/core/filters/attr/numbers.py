"""Sets of numbers, exactly as far as a content can hold them: 64-bit integers and finite doubles.

That domain is discrete, so every set that constraints can describe has a least and a greatest member, and is told by
these two and the members missing in between. Equal sets have equal parts, whatever text they came from.
"""

from __future__ import annotations

import math
import sys
from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from node.core.filters.attr.syntax import INT_MAX, INT_MIN

Number = int | float

LEAST: Number = -sys.float_info.max
GREATEST: Number = sys.float_info.max
_DOUBLES_ARE_DENSE_TO = 2**53


def canonical(number: Number) -> Number:
    """The one way to write a value: an integer where it is one of 64 bits, else a float."""
    if not INT_MIN <= number <= INT_MAX:
        return float(number)
    whole = int(number)
    return whole if whole == number else number


def after(number: Number) -> Number:
    """The next greater value of the domain; infinity after the last."""
    if INT_MIN <= number <= INT_MAX and not -_DOUBLES_ARE_DENSE_TO <= number < _DOUBLES_ARE_DENSE_TO:
        return canonical(int(number) + 1)
    return canonical(math.nextafter(number, math.inf))


def before(number: Number) -> Number:
    return canonical(-after(-number))


@dataclass(frozen=True, slots=True)
class NumberSet:
    low: Number
    high: Number
    holes: tuple[Number, ...]

    def __contains__(self, number: Number) -> bool:
        return self.low <= number <= self.high and not _has(self.holes, number)

    @property
    def is_single(self) -> bool:
        return self.low == self.high

    def covers(self, other: NumberSet) -> bool:
        if not (self.low <= other.low and other.high <= self.high):
            return False
        return not any(hole in other for hole in self.holes)

    def meets(self, other: NumberSet) -> bool:
        low, high = max(self.low, other.low), min(self.high, other.high)
        if low > high or not (self.holes or other.holes):
            return low <= high
        return _normal(low, high, (*self.holes, *other.holes)) is not None

    def union(self, other: NumberSet) -> NumberSet | None:
        """Exactly the members of both; None if between them are more than a single value that belongs to neither."""
        below, beyond = (self, other) if self.low <= other.low else (other, self)
        gap = after(below.high)
        holes = [hole for hole in self.holes if hole not in other] + [hole for hole in other.holes if hole not in self]
        if gap < beyond.low:
            if after(gap) < beyond.low:
                return None
            holes.append(gap)
        return _normal(below.low, max(below.high, beyond.high), holes)

    def terms(self) -> list[tuple[str, Number]]:
        """The shortest constraints that say the same; a bound is written with whichever neighbour is shorter."""
        if self.is_single:
            return [("=", self.low)]
        terms: list[tuple[str, Number]] = []
        if self.low != LEAST:
            terms.append(_shorter((">=", self.low), (">", before(self.low))))
        if self.high != GREATEST:
            terms.append(_shorter(("<=", self.high), ("<", after(self.high))))
        terms.extend(("!=", hole) for hole in self.holes)
        return terms or [("<=", GREATEST)]

    def test(self) -> Callable[[object], bool]:
        low, high, holes = self.low, self.high, frozenset(self.holes)
        # `True == 1` in Python, and a bool is an int: hence types are compared, not asked with isinstance.
        if low == high:
            return lambda value: value == low and type(value) is not bool
        if holes:
            return lambda value: (
                (type(value) is int or type(value) is float) and low <= value <= high and value not in holes
            )
        if high == GREATEST:
            return lambda value: (type(value) is int or type(value) is float) and value >= low
        if low == LEAST:
            return lambda value: (type(value) is int or type(value) is float) and value <= high
        return lambda value: (type(value) is int or type(value) is float) and low <= value <= high


def number_set(terms: Iterable[tuple[str, Number]]) -> NumberSet | None:
    """The numbers that satisfy all the terms (operator, value); none if there is no such number."""
    low, high = LEAST, GREATEST
    holes: list[Number] = []
    for operator, written in terms:
        value = canonical(written)
        if operator == "!=":
            holes.append(value)
        if operator in ("=", ">="):
            low = max(low, value)
        if operator in ("=", "<="):
            high = min(high, value)
        if operator == ">":
            low = max(low, after(value))
        if operator == "<":
            high = min(high, before(value))
    return _normal(low, high, holes)


def _normal(low: Number, high: Number, holes: Iterable[Number]) -> NumberSet | None:
    inside = set(holes)
    while low in inside:
        low = after(low)
    while high in inside:
        high = before(high)
    if low > high:
        return None
    return NumberSet(low, high, tuple(sorted(hole for hole in inside if low < hole < high)))


def _shorter(closed: tuple[str, Number], open_: tuple[str, Number]) -> tuple[str, Number]:
    return open_ if len(repr(open_[1])) < len(repr(closed[1])) else closed


def _has(holes: tuple[Number, ...], number: Number) -> bool:
    at = bisect_left(holes, number)
    return at < len(holes) and holes[at] == number
