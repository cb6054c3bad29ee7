"""Attribute filters as rows of bits: for each name and value, the conjunctions that may still match."""

from __future__ import annotations

from typing import Any, Generic, NamedTuple

from node.core.filters import Filter
from node.core.filters.attr.filter import AttrFilter
from node.core.matching import Holder
from node.core.matching.bits import BitRows, bits_of, without
from node.core.matching.column import Asked
from node.core.matching.layers import Items, Part
from node.core.matching.rows import Row, Rows

# Each name may remember its share of so many rows, but not fewer than so few; a row takes a bit for each slot.
KEPT_ROWS_MAX = 12_000
KEPT_ROWS_MIN = 64
# The names of contents are remembered in so many combinations.
KEPT_COMBINATIONS_MAX = 512
# Rows of so many slots are arrays, shorter ones integers. A guess; `make bench-matching` prints where they meet.
ARRAYS_WIDTH_MIN = 24_576


class Query(NamedTuple):
    content: dict[str, Any]
    names: frozenset[str]
    """Those of the content."""


class Table(NamedTuple):
    """Filters as slots, one for each conjunction; a filter's conjunctions stand side by side."""

    slots: dict[Filter, int]
    holders: list[Any]
    firsts: list[int]
    followers: list[int]
    """The slots of all conjunctions but the first ones."""
    asked: dict[str, Asked]

    @classmethod
    def of(cls, filters: Items[Any]) -> Table:
        table = cls({}, [], [], [], {})
        slots, holders, firsts, followers, asked = table
        for filter, holder in filters:
            assert isinstance(filter, AttrFilter)
            slots[filter] = len(holders)
            if not filter.conjunctions:
                # It matches nothing; its holder is kept for the day when it is packed anew.
                holders.append(holder)
            for nth, conjunction in enumerate(filter.conjunctions):
                slot = len(holders)
                holders.append(None if nth else holder)
                (followers if nth else firsts).append(slot)
                for name, values in conjunction.sets.items():
                    own = asked.get(name)
                    if own is None:
                        own = asked[name] = Asked()
                    own.add(slot, values)
        return table


class Packed(Part[Query, Holder], Generic[Row, Holder]):
    def __init__(self, table: Table, rows: Rows[Row]) -> None:
        super().__init__(table.slots, table.holders)
        kept_max = max(KEPT_ROWS_MIN, KEPT_ROWS_MAX // max(1, len(table.asked)))
        self.columns = {name: asked.column(rows, kept_max) for name, asked in table.asked.items()}
        self._rows = rows
        self._within: dict[frozenset[str], Row] = {}

    def within(self, names: frozenset[str]) -> Row:
        """The row of those that speak of none but these names."""
        row = self._within.get(names)
        if row is None:
            row = self._rows.everyone()
            for name, column in self.columns.items():
                if name not in names:
                    row = self._rows.both(row, column.silent)
            if len(self._within) >= KEPT_COMBINATIONS_MAX:
                self._within.clear()
            self._within[names] = row
        return row


class BitPacked(Packed[int, Holder]):
    def __init__(self, table: Table) -> None:
        super().__init__(table, BitRows(len(table.holders)))
        self._live = bits_of(table.firsts)
        self._followers = bits_of(table.followers)

    def bury(self, slot: int) -> None:
        self._live = without(self._live, 1 << slot)

    def hits(self, query: Query) -> int:
        row = self.within(query.names)
        columns = self.columns
        for name, value in query.content.items():
            column = columns.get(name)
            if column is not None:
                if value.__class__ is bool:
                    row &= column.flags[value]
                else:
                    known = column.rows.get(value)
                    row &= column.look(value) if known is None else known
                if not row:
                    return 0
        # A filter is found once, at its first slot, whichever of its conjunctions match.
        while found := row & self._followers:
            row = row ^ found | found >> 1
        return row & self._live


def pack(filters: Items[Holder]) -> Part[Query, Holder]:
    table = Table.of(filters)
    if len(table.holders) < ARRAYS_WIDTH_MIN:
        return BitPacked(table)
    from node.core.matching.arrays import ArrayPacked

    return ArrayPacked(table)
