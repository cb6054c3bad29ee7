"""Rows of bits in numpy's arrays: for large tables, in which putting slots into integers takes longer than the `&`.

The only numbers that numpy sees are slots. What filters and contents say is compared by Python, so nothing is rounded.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from node.core.matching import Holder
from node.core.matching.packed import Packed, Query, Table
from node.core.matching.rows import Bounds, Ladder, Rows

Row = NDArray[np.uint8]
# Slots one by one, as wide integers, or a row already.
Group = NDArray[Any]

# A group is kept as a row if it has a slot for so many bits of the row.
_BITS_PER_SLOT = 512
# After every so many slots a ladder keeps the row so far.
STEP = 512
_BIT = (1 << np.arange(8)).astype(np.uint8)
_NOT_BIT = ~_BIT


class ArrayPacked(Packed[Row, Holder]):
    def __init__(self, table: Table) -> None:
        rows = ArrayRows(len(table.holders))
        super().__init__(table, rows)
        self._live = rows.row(table.firsts)
        self._followers = rows.row(table.followers)
        self._has_followers = bool(table.followers)

    def bury(self, slot: int) -> None:
        self._live[slot >> 3] &= _NOT_BIT[slot & 7]

    def hits(self, query: Query) -> bytes:
        columns = self.columns
        row = self.within(query.names).copy()
        for name, value in query.content.items():
            column = columns.get(name)
            if column is not None:
                known = column.flags[value] if value.__class__ is bool else column.rows.get(value)
                np.bitwise_and(row, column.look(value) if known is None else known, out=row)
        if self._has_followers:
            self._move_to_firsts(row)
        np.bitwise_and(row, self._live, out=row)
        return row.tobytes()

    def _move_to_firsts(self, row: Row) -> None:
        """A filter is found once, at its first slot, whichever of its conjunctions match."""
        while (found := row & self._followers).any():
            row ^= found
            row |= found >> 1
            row[:-1] |= found[1:] << 7


class ArrayRows(Rows[Row]):
    def __init__(self, width: int) -> None:
        self._width = width
        self._bytes = -(-width // 8)

    def everyone(self) -> Row:
        return np.full(self._bytes, 0xFF, dtype=np.uint8)

    def row(self, slots: list[int]) -> Row:
        row = np.zeros(self._bytes, dtype=np.uint8)
        _flip(row, np.array(slots, dtype=np.intp))
        return row

    def group(self, slots: list[int]) -> Group:
        return self.row(slots) if len(slots) * _BITS_PER_SLOT >= self._width else np.array(slots, dtype=np.intp)

    def is_row(self, group: Group) -> bool:
        return group.dtype == np.uint8

    def plus(self, row: Row, group: Group) -> Row:
        if group.dtype == np.uint8:
            np.bitwise_or(row, group, out=row)
        else:
            np.bitwise_or.at(row, group >> 3, _BIT[group & 7])
        return row

    def minus(self, row: Row, group: Group) -> Row:
        if group.dtype == np.uint8:
            np.bitwise_and(row, ~group, out=row)
        else:
            np.bitwise_and.at(row, group >> 3, _NOT_BIT[group & 7])
        return row

    def both(self, row: Row, other: Row) -> Row:
        return np.bitwise_and(row, other, out=row)

    def copy(self, row: Row) -> Row:
        return row.copy()

    def ladder(self, bounds: Bounds, base: Row) -> Ladder[Row]:
        return _ArrayLadder(bounds, base)


class _ArrayLadder(Ladder[Row]):
    def __init__(self, bounds: Bounds, base: Row) -> None:
        super().__init__(bounds)
        self._slots = np.array(bounds.slots, dtype=np.intp)
        self._marks = [base]
        for start in range(0, len(self._slots), STEP):
            mark = self._marks[-1].copy()
            _flip(mark, self._slots[start : start + STEP])
            self._marks.append(mark)

    def row(self, count: int) -> Row:
        nearest = (count + STEP // 2) // STEP
        row = self._marks[nearest].copy()
        start = nearest * STEP
        # Each slot is there once, so what puts it in also takes it out.
        if start != count:
            _flip(row, self._slots[start:count] if start < count else self._slots[count:start])
        return row


def _flip(row: Row, slots: NDArray[np.intp]) -> None:
    np.bitwise_xor.at(row, slots >> 3, _BIT[slots & 7])
