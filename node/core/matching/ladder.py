"""Slots in the order of their bounds: the row of those up to any place, without going through all."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from operator import itemgetter
from typing import Any

from node.core.matching.bits import bits_of

# After every so many slots the row so far is kept.
STEP = 16

# A bound, and the slot that has it.
Bounded = tuple[Any, int]


class Ladder:
    """Bounds are compared as Python does, exactly: integers and floats by value, strings by code point."""

    __slots__ = ("_bounds", "_marks", "_slots")

    def __init__(self, pairs: list[Bounded], base: int) -> None:
        """`base` belongs to every row, and has none of the slots."""
        ordered = sorted(pairs, key=itemgetter(0))
        self._bounds = [bound for bound, _ in ordered]
        self._slots = array("I", [slot for _, slot in ordered])
        self._marks = [base]
        for start in range(0, len(ordered), STEP):
            base |= bits_of(self._slots[start : start + STEP])
            self._marks.append(base)

    def count(self, value: Any) -> int:
        """How many have a bound that is not beyond this value."""
        return bisect_right(self._bounds, value)

    def row(self, count: int) -> int:
        """The base and the first `count` slots."""
        nearest = (count + STEP // 2) // STEP
        row = self._marks[nearest]
        start = nearest * STEP
        # Each slot is there once, so what puts it in also takes it out.
        for slot in self._slots[start:count] if start < count else self._slots[count:start]:
            row ^= 1 << slot
        return row
