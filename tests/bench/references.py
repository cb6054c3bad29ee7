"""Other ways to match many attribute filters, each as simple as its idea allows: what our index is measured beside.

They are for tables that do not change, and for filters of one conjunction.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import Any

import numpy as np
from pyroaring import BitMap

from node.core.filters.attr.conjunction import Test, ValueSet
from node.core.filters.attr.filter import AttrFilter
from node.core.filters.attr.numbers import GREATEST, LEAST, NumberSet
from node.core.matching.packed import Query
from node.core.matching.waiting import Waiting
from tests.bench.world import Attributes

Match = Callable[[Attributes], list[int]]
Ids = Any
"""A list or an array of the positions of filters, as the reference likes it."""


class Column:
    """What filters ask of one name: a dict for equalities, sorted bounds for half-open ranges, tests for the rest."""

    def __init__(self) -> None:
        self.spoken: list[int] = []
        self._equal: dict[object, Ids] = {}
        self._lows: list[tuple[float, int]] = []
        self._highs: list[tuple[float, int]] = []
        self._holes: list[tuple[float, int]] = []
        self._others: dict[ValueSet, tuple[Test, Ids]] = {}

    def add(self, id: int, values: ValueSet, test: Test) -> None:
        self.spoken.append(id)
        if values is not None and not isinstance(values, bool) and values.is_single:
            self._equal.setdefault(values.low, []).append(id)
        elif isinstance(values, NumberSet) and not values.holes and values.high == GREATEST:
            self._lows.append((values.low, id))
        elif isinstance(values, NumberSet) and not values.holes and values.low == LEAST:
            self._highs.append((values.high, id))
        elif isinstance(values, NumberSet) and values == NumberSet(LEAST, GREATEST, values.holes[:1]):
            self._holes.append((values.holes[0], id))
        else:
            self._others.setdefault(values, (test, []))[1].append(id)

    def freeze(self, ids: Callable[[list[int]], Ids]) -> None:
        self._lows.sort()
        self._highs.sort()
        self._holes.sort()
        self._low_bounds, self._low_ids = [low for low, _ in self._lows], ids([id for _, id in self._lows])
        self._high_bounds, self._high_ids = [high for high, _ in self._highs], ids([id for _, id in self._highs])
        self._hole_bounds, self._hole_ids = [hole for hole, _ in self._holes], ids([id for _, id in self._holes])
        self._equal = {value: ids(own) for value, own in self._equal.items()}
        self._tests = [(test, ids(own)) for test, own in self._others.values()]

    def satisfied(self, value: Any) -> Iterator[Ids]:
        if value in self._equal:
            yield self._equal[value]
        if self._low_bounds:
            yield self._low_ids[: bisect_right(self._low_bounds, value)]
        if self._high_bounds:
            yield self._high_ids[bisect_left(self._high_bounds, value) :]
        if self._hole_bounds:
            yield self._hole_ids[: bisect_left(self._hole_bounds, value)]
            yield self._hole_ids[bisect_right(self._hole_bounds, value) :]
        for test, ids in self._tests:
            if test(value):
                yield ids


def columns(filters: Sequence[AttrFilter], ids: Callable[[list[int]], Ids]) -> dict[str, Column]:
    found: dict[str, Column] = {}
    for id, filter in enumerate(filters):
        (conjunction,) = filter.conjunctions
        for (name, values), (_, test) in zip(conjunction.sets.items(), conjunction.tests, strict=True):
            found.setdefault(name, Column()).add(id, values, test)
    for column in found.values():
        column.freeze(ids)
    return found


def array(ids: list[int]) -> Ids:
    return np.array(ids, dtype=np.int64)


def access_predicate(filters: Sequence[AttrFilter]) -> Match:
    waiting: Waiting[int] = Waiting()
    for id, filter in enumerate(filters):
        waiting.add(filter, id)

    def match(content: Attributes) -> list[int]:
        return waiting.match(Query(content, frozenset(content)))

    return match


def counting(filters: Sequence[AttrFilter]) -> Match:
    asked = columns(filters, list)
    needed = [len(filter.conjunctions[0].sets) for filter in filters]

    def match(content: Attributes) -> list[int]:
        counts: Counter[int] = Counter()
        for name, value in content.items():
            if name in asked:
                for ids in asked[name].satisfied(value):
                    counts.update(ids)
        return sorted(id for id, count in counts.items() if count == needed[id])

    return match


def numpy_counting(filters: Sequence[AttrFilter]) -> Match:
    asked = columns(filters, array)
    needed = array([len(filter.conjunctions[0].sets) for filter in filters])

    def match(content: Attributes) -> list[int]:
        groups = [ids for name, value in content.items() if name in asked for ids in asked[name].satisfied(value)]
        if not groups:
            return []
        counts = np.bincount(np.concatenate(groups), minlength=len(needed))
        return np.flatnonzero(counts == needed).tolist()

    return match


def numpy_rows(filters: Sequence[AttrFilter]) -> Match:
    asked = columns(filters, array)
    silent = {}
    for name, column in asked.items():
        silent[name] = np.ones(len(filters), dtype=bool)
        silent[name][column.spoken] = False
    packed = {name: np.packbits(row) for name, row in silent.items()}
    rows: dict[tuple[str, object], Any] = {}

    def row(name: str, value: object) -> Any:
        known = rows.get((name, value))
        if known is None:
            bits = silent[name].copy()
            for ids in asked[name].satisfied(value):
                bits[ids] = True
            known = rows[name, value] = np.packbits(bits)
        return known

    def match(content: Attributes) -> list[int]:
        wanted = [row(name, content[name]) if name in content else packed[name] for name in asked]
        both = reduce(np.bitwise_and, wanted)
        some = np.flatnonzero(both)
        at, bits = np.nonzero(np.unpackbits(both[some]).reshape(-1, 8))
        return (some[at] * 8 + bits).tolist()

    return match


def roaring(filters: Sequence[AttrFilter]) -> Match:
    asked = columns(filters, list)
    everyone = BitMap(range(len(filters)))
    silent = {name: everyone - BitMap(column.spoken) for name, column in asked.items()}
    rows: dict[tuple[str, object], Any] = {}

    def row(name: str, value: object) -> Any:
        known = rows.get((name, value))
        if known is None:
            satisfied = [id for ids in asked[name].satisfied(value) for id in ids]
            known = rows[name, value] = silent[name] | BitMap(satisfied)
        return known

    def match(content: Attributes) -> list[int]:
        wanted = [row(name, content[name]) if name in content else silent[name] for name in asked]
        return BitMap.intersection(*sorted(wanted, key=len)).to_array().tolist()

    return match


REFERENCES: dict[str, Callable[[Sequence[AttrFilter]], Match]] = {
    "access predicate, pure Python": access_predicate,
    "dict/bisect counting": counting,
    "numpy counting": numpy_counting,
    "numpy bit rows, warm": numpy_rows,
    "roaring bitmaps, warm": roaring,
}
