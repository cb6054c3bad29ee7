"""Which sets of numbers, or of strings, a value belongs to. Each set has a slot, that is a bit of the answer."""

from __future__ import annotations

from typing import Any

from node.core.filters.attr.numbers import GREATEST, LEAST, NumberSet, after
from node.core.filters.attr.strings import StringSet
from node.core.matching.bits import bits_of, grouped, without
from node.core.matching.ladder import Bounded, Ladder

# How many of the sets have begun before a value, and how many have ended.
Place = tuple[int, int]


class Asked:
    """The sets as they come, slot by slot."""

    __slots__ = ("equal", "highs", "holes", "lows", "pieces", "ranges")

    def __init__(self) -> None:
        self.equal: dict[Any, list[int]] = {}
        self.ranges: list[int] = []
        """All but the equalities. They have a first value and a first one beyond, unless they have none."""
        self.lows: list[Bounded] = []
        self.highs: list[Bounded] = []
        self.holes: dict[Any, list[int]] = {}
        self.pieces: dict[tuple[str, tuple[str, ...]], list[int]] = {}
        """What else a string must have: an end, and parts."""

    def add_numbers(self, slot: int, values: NumberSet) -> None:
        if values.low == values.high:
            self.equal.setdefault(values.low, []).append(slot)
            return
        self.ranges.append(slot)
        if values.low != LEAST:
            self.lows.append((values.low, slot))
        if values.high != GREATEST:
            self.highs.append((after(values.high), slot))
        for hole in values.holes:
            self.holes.setdefault(hole, []).append(slot)

    def add_strings(self, slot: int, values: StringSet) -> None:
        if values.is_single:
            self.equal.setdefault(values.low, []).append(slot)
            return
        self.ranges.append(slot)
        if values.low:
            self.lows.append((values.low, slot))
        if values.high is not None:
            self.highs.append((values.high, slot))
        for hole in values.holes:
            self.holes.setdefault(hole, []).append(slot)
        if values.suffix or values.parts:
            self.pieces.setdefault((values.suffix, values.parts), []).append(slot)

    def slots(self) -> list[int]:
        return [*self.ranges, *(slot for slots in self.equal.values() for slot in slots)]


class Sets:
    """The same laid out for asking."""

    __slots__ = ("_always", "_equal", "_highs", "_holes", "_lows", "_pieces", "_with_pieces", "is_exact")

    def __init__(self, asked: Asked, always: int, width: int) -> None:
        """`always` belongs to every answer; `width`: how many slots there are."""
        self._always = always
        self._equal = {value: grouped(slots, width) for value, slots in asked.equal.items()}
        self._holes = {value: grouped(slots, width) for value, slots in asked.holes.items()}
        self._pieces = [(*pieces, grouped(slots, width)) for pieces, slots in asked.pieces.items()]
        self._with_pieces = bits_of([slot for slots in asked.pieces.values() for slot in slots])
        unbounded = bits_of(asked.ranges) ^ bits_of([slot for _, slot in asked.lows])
        self._lows = Ladder(asked.lows, always | unbounded)
        self._highs = Ladder(asked.highs, 0)
        self.is_exact = not asked.ranges
        """Whether all that is asked for is single values."""

    def place(self, value: Any) -> Place:
        return self._lows.count(value), self._highs.count(value)

    def is_plain(self, value: Any) -> bool:
        """Whether the answer depends on nothing but the place."""
        return not self._pieces and value not in self._equal and value not in self._holes

    def row_at(self, place: Place) -> int:
        begun, ended = place
        row = self._lows.row(begun)
        return without(row, self._highs.row(ended)) if ended else row

    def row(self, value: Any, place: Place) -> int:
        row = self.row_at(place)
        fails = bits_of(self._holes.get(value, ()))
        if self._pieces:
            fails |= self._with_pieces ^ self._complete(value)
        if fails:
            row = without(row, fails)
        return row | bits_of(self._equal[value]) if value in self._equal else row

    def _complete(self, text: str) -> int:
        """Those that have all their pieces in this text."""
        found = 0
        for suffix, parts, slots in self._pieces:
            if text.endswith(suffix) and all(map(text.__contains__, parts)):
                found |= bits_of(slots)
        return found

    def exact_row(self, value: Any) -> int:
        return self._always | bits_of(self._equal[value]) if value in self._equal else self._always
