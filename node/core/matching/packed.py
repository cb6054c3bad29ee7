"""Attribute filters as rows of bits: for each name and value, the conjunctions that may still match."""

from __future__ import annotations

from typing import Any, NamedTuple

from node.core.filters import Filter
from node.core.filters.attr.filter import AttrFilter
from node.core.matching import Holder
from node.core.matching.bits import bits_of, without
from node.core.matching.column import Asked
from node.core.matching.layers import Items, Part

# The names of contents are remembered in so many combinations.
KEPT_COMBINATIONS_MAX = 512


class Query(NamedTuple):
    content: dict[str, Any]
    names: frozenset[str]
    """Those of the content."""


class Packed(Part[Query, Holder]):
    """Each conjunction has a slot; a filter's conjunctions stand side by side."""

    def __init__(self, filters: Items[Holder]) -> None:
        slots: dict[Filter, int] = {}
        holders: list[Holder | None] = []
        firsts: list[int] = []
        followers: list[int] = []
        asked: dict[str, Asked] = {}
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
        super().__init__(slots, holders)
        self._everyone = (1 << self.width) - 1
        self._live = bits_of(firsts)
        self._followers = bits_of(followers)
        self._columns = {name: own.column(self.width) for name, own in asked.items()}
        # Of each combination of names the row of those that speak of none but these.
        self._within: dict[frozenset[str], int] = {}

    def bury(self, slot: int) -> None:
        self._live = without(self._live, 1 << slot)

    def hits(self, query: Query) -> int:
        content, names = query
        row = self._within.get(names)
        if row is None:
            row = self._look_within(names)
        columns = self._columns
        for name, value in content.items():
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

    def _look_within(self, names: frozenset[str]) -> int:
        row = self._everyone
        for name, column in self._columns.items():
            if name not in names:
                row &= column.silent
        if len(self._within) >= KEPT_COMBINATIONS_MAX:
            self._within.clear()
        self._within[names] = row
        return row
