"""Which sets of numbers, or of strings, a value belongs to. Each set has a slot, that is a bit of the answer."""

from __future__ import annotations

from typing import Any, Generic

from node.core.filters.attr.numbers import GREATEST, LEAST, NumberSet
from node.core.filters.attr.strings import StringSet
from node.core.matching.rows import Bounds, Row, Rows

# How many of the sets have begun before a value, and how many have ended.
Place = tuple[int, int]


class Asked:
    """The sets as they come, slot by slot."""

    __slots__ = ("equal", "highs", "holes", "lows", "pieces", "ranges")

    def __init__(self) -> None:
        self.equal: dict[Any, list[int]] = {}
        self.ranges: list[int] = []
        """All but the equalities."""
        self.lows = Bounds()
        """The first value that belongs to a range, if there is one."""
        self.highs = Bounds()
        """The last value that belongs to a range of numbers, and the first beyond a range of strings."""
        self.holes: dict[Any, list[int]] = {}
        self.pieces: dict[tuple[str, tuple[str, ...]], list[int]] = {}
        """What else a string must have: an end, and parts."""

    def add_numbers(self, slot: int, values: NumberSet) -> None:
        low, high = values.low, values.high
        if low == high:
            self.equal.setdefault(low, []).append(slot)
            return
        self.ranges.append(slot)
        if low != LEAST:
            self.lows.add(low, slot)
        if high != GREATEST:
            self.highs.add(high, slot)
        for hole in values.holes:
            self.holes.setdefault(hole, []).append(slot)

    def add_strings(self, slot: int, values: StringSet) -> None:
        if values.is_single:
            self.equal.setdefault(values.low, []).append(slot)
            return
        self.ranges.append(slot)
        if values.low:
            self.lows.add(values.low, slot)
        if values.high is not None:
            self.highs.add(values.high, slot)
        for hole in values.holes:
            self.holes.setdefault(hole, []).append(slot)
        if values.suffix or values.parts:
            self.pieces.setdefault((values.suffix, values.parts), []).append(slot)

    def slots(self) -> list[int]:
        return [*self.ranges, *(slot for slots in self.equal.values() for slot in slots)]


class Sets(Generic[Row]):
    """The same laid out for asking."""

    __slots__ = ("_always", "_equal", "_highs", "_holes", "_lows", "_pieces", "_rows", "_with_pieces", "is_exact")

    def __init__(self, rows: Rows[Row], asked: Asked, always: Row) -> None:
        """`always` belongs to every answer."""
        self._rows = rows
        self._always = always
        self.is_exact = not asked.ranges
        """Whether all that is asked for is single values."""
        self._equal = {value: rows.group(slots) for value, slots in asked.equal.items()}
        if self.is_exact:
            # Of those that are rows already the whole answer.
            for value, group in self._equal.items():
                if rows.is_row(group):
                    self._equal[value] = rows.plus(group, always)
        self._holes = {value: rows.group(slots) for value, slots in asked.holes.items()}
        self._pieces = [(*pieces, rows.group(slots)) for pieces, slots in asked.pieces.items()]
        self._with_pieces = rows.group([slot for slots in asked.pieces.values() for slot in slots])
        begun = rows.plus(rows.copy(always), rows.group(asked.ranges))
        self._lows = rows.ladder(asked.lows, rows.minus(begun, rows.group(asked.lows.slots)))
        self._highs = rows.ladder(asked.highs, rows.row([]))

    def place(self, value: Any) -> Place:
        ended = self._highs.until(value) if isinstance(value, str) else self._highs.below(value)
        return self._lows.until(value), ended

    def is_plain(self, value: Any) -> bool:
        """Whether the answer depends on nothing but the place."""
        return not self._pieces and value not in self._equal and value not in self._holes

    def row_at(self, place: Place) -> Row:
        begun, ended = place
        row = self._lows.row(begun)
        return self._rows.minus(row, self._highs.row(ended)) if ended else row

    def row(self, value: Any, place: Place) -> Row:
        rows = self._rows
        row = self.row_at(place)
        if value in self._holes:
            row = rows.minus(row, self._holes[value])
        if self._pieces:
            row = rows.minus(row, self._lacking(value))
        return rows.plus(row, self._equal[value]) if value in self._equal else row

    def exact_row(self, value: Any) -> Row:
        if value not in self._equal:
            return self._always
        group: Any = self._equal[value]
        return group if self._rows.is_row(group) else self._rows.plus(self._rows.copy(self._always), group)

    def _lacking(self, text: str) -> Row:
        """Those that want a piece which this text does not have."""
        rows = self._rows
        lacking = rows.plus(rows.row([]), self._with_pieces)
        for suffix, parts, slots in self._pieces:
            if text.endswith(suffix) and all(map(text.__contains__, parts)):
                lacking = rows.minus(lacking, slots)
        return lacking
