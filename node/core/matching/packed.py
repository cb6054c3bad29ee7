"""Conjunctions as rows of bits, in integers of any length: one `&` decides about all of them at once.

For a name and a value there is the row of conjunctions that this value satisfies or that do not speak of the name. It
is made when the value first comes, and kept while there is room.
"""

from __future__ import annotations

import re
from collections.abc import Mapping as ReadOnly
from typing import Any, Generic, TypeVar

from node.core.filters import Filter
from node.core.filters.attr.conjunction import Test, ValueSet
from node.core.filters.attr.filter import AttrFilter

Mapping = TypeVar("Mapping", bound=dict[Any, Any])

CACHE_BYTES_MAX = 32 << 20
_NONZERO = re.compile(rb"[^\0]")
_BITS = tuple(tuple(bit for bit in range(8) if byte >> bit & 1) for byte in range(256))


class _Column:
    """What the conjunctions ask of one name: each distinct set of values with its test and its conjunctions."""

    def __init__(self) -> None:
        self.singles: dict[tuple[object, bool], list[int]] = {}
        self.sets: dict[ValueSet, tuple[Test, list[int]]] = {}
        self.silent = 0
        """The row of those that do not speak of this name."""

    def add(self, slot: int, values: ValueSet, test: Test) -> None:
        if isinstance(values, bool):
            self.singles.setdefault((values, True), []).append(slot)
        elif values is not None and values.is_single:
            self.singles.setdefault((values.low, False), []).append(slot)
        else:
            self.sets.setdefault(values, (test, []))[1].append(slot)

    def spoken(self) -> list[int]:
        slots = [slot for _, own in self.sets.values() for slot in own]
        return slots + [slot for own in self.singles.values() for slot in own]

    def satisfied(self, value: object) -> list[int]:
        slots = list(self.singles.get((value, value.__class__ is bool), ()))
        for test, own in self.sets.values():
            if test(value):
                slots += own
        return slots


class Packed(Generic[Mapping]):
    def __init__(self, filters: ReadOnly[Filter, Mapping]) -> None:
        self._slots: dict[Filter, range] = {}
        self._holders: list[Mapping] = []
        self._columns: dict[str, _Column] = {}
        for filter, holders in filters.items():
            assert isinstance(filter, AttrFilter)
            start = len(self._holders)
            for slot, conjunction in enumerate(filter.conjunctions, start):
                self._holders.append(holders)
                for (name, values), (_, test) in zip(conjunction.sets.items(), conjunction.tests, strict=True):
                    self._columns.setdefault(name, _Column()).add(slot, values, test)
            self._slots[filter] = range(start, len(self._holders))
        self._bytes = len(self._holders) // 8 + 1
        self._live = (1 << len(self._holders)) - 1
        for column in self._columns.values():
            column.silent = self._live ^ self._row(column.spoken())
        self.size = len(self._slots)
        self.dead = 0
        self._rows_max = max(64, CACHE_BYTES_MAX // self._bytes)
        self._rows: dict[tuple[str, object, bool], int] = {}
        # Names of a content -> the row of those that speak of no other name.
        self._within: dict[frozenset[str], int] = {}

    def remove(self, filter: Filter) -> None:
        for slot in self._slots.pop(filter):
            self._live ^= 1 << slot
        self.dead += 1

    def collect(self, content: dict[str, Any], found: Mapping) -> None:
        columns, rows = self._columns, self._rows
        names = frozenset(content)
        row = self._within.get(names)
        if row is None:
            row = self._remember_within(names)
        row &= self._live
        for name, value in content.items():
            if name in columns:
                known = rows.get((name, value, value.__class__ is bool))
                row &= self._remember(name, value) if known is None else known
        data = row.to_bytes(self._bytes, "little")
        holders = self._holders
        for hit in _NONZERO.finditer(data):
            at = hit.start()
            for bit in _BITS[data[at]]:
                found.update(holders[at * 8 + bit])

    def _row(self, slots: list[int]) -> int:
        data = bytearray(self._bytes)
        for slot in slots:
            data[slot >> 3] |= 1 << (slot & 7)
        return int.from_bytes(data, "little")

    def _remember(self, name: str, value: object) -> int:
        column = self._columns[name]
        row = column.silent | self._row(column.satisfied(value))
        _make_room(self._rows, self._rows_max)
        self._rows[name, value, value.__class__ is bool] = row
        return row

    def _remember_within(self, names: frozenset[str]) -> int:
        row = (1 << len(self._holders)) - 1
        for name, column in self._columns.items():
            if name not in names:
                row &= column.silent
        _make_room(self._within, self._rows_max)
        self._within[names] = row
        return row


def _make_room(rows: dict[Any, int], rows_max: int) -> None:
    """What came first goes first."""
    if len(rows) >= rows_max:
        del rows[next(iter(rows))]
