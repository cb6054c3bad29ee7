"""Other ways to match many attribute filters, each as simple as its idea allows: what our index is measured beside.

They are for tables that do not change, and for filters of one conjunction.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
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


class Reference(ABC):
    """Answers with the keys of the filters, as our index does; a key is looked up by its position."""

    def __init__(self, filters: Sequence[AttrFilter], keys: Sequence[str]) -> None:
        self._keys = keys

    @abstractmethod
    def match(self, content: Attributes) -> list[str]: ...

    def forget(self) -> None:
        """What was remembered of contents; most remember nothing."""
        return


class AccessPredicate(Reference):
    def __init__(self, filters: Sequence[AttrFilter], keys: Sequence[str]) -> None:
        super().__init__(filters, keys)
        self._waiting: Waiting[str] = Waiting()
        for filter, key in zip(filters, keys, strict=True):
            self._waiting.add(filter, key)

    def match(self, content: Attributes) -> list[str]:
        return self._waiting.match(Query(content, frozenset(content)))


class Counting(Reference):
    def __init__(self, filters: Sequence[AttrFilter], keys: Sequence[str]) -> None:
        super().__init__(filters, keys)
        self._asked = columns(filters, list)
        self._needed = [len(filter.conjunctions[0].sets) for filter in filters]

    def match(self, content: Attributes) -> list[str]:
        counts: Counter[int] = Counter()
        for name, value in content.items():
            if name in self._asked:
                for ids in self._asked[name].satisfied(value):
                    counts.update(ids)
        needed = self._needed
        return [self._keys[id] for id in sorted(id for id, count in counts.items() if count == needed[id])]


class _WithArrays(Reference):
    def __init__(self, filters: Sequence[AttrFilter], keys: Sequence[str]) -> None:
        super().__init__(filters, keys)
        self._held = np.empty(len(keys), dtype=object)
        self._held[:] = keys

    def _found(self, ids: Ids) -> list[str]:
        return self._held[ids].tolist()


class NumpyCounting(_WithArrays):
    def __init__(self, filters: Sequence[AttrFilter], keys: Sequence[str]) -> None:
        super().__init__(filters, keys)
        self._asked = columns(filters, array)
        self._needed = array([len(filter.conjunctions[0].sets) for filter in filters])

    def match(self, content: Attributes) -> list[str]:
        asked = self._asked
        groups = [ids for name, value in content.items() if name in asked for ids in asked[name].satisfied(value)]
        if not groups:
            return []
        counts = np.bincount(np.concatenate(groups), minlength=len(self._needed))
        return self._found((counts == self._needed).nonzero()[0])


class NumpyRows(_WithArrays):
    def __init__(self, filters: Sequence[AttrFilter], keys: Sequence[str]) -> None:
        super().__init__(filters, keys)
        self._asked = columns(filters, array)
        self._silent = {}
        for name, column in self._asked.items():
            self._silent[name] = np.ones(len(filters), dtype=bool)
            self._silent[name][column.spoken] = False
        self._packed = {name: np.packbits(row) for name, row in self._silent.items()}
        self._rows: dict[tuple[str, object], Any] = {}

    def forget(self) -> None:
        self._rows.clear()

    def match(self, content: Attributes) -> list[str]:
        wanted = [self._row(name, content[name]) if name in content else self._packed[name] for name in self._asked]
        return self._found(np.unpackbits(reduce(np.bitwise_and, wanted)).view(bool).nonzero()[0])

    def _row(self, name: str, value: object) -> Any:
        known = self._rows.get((name, value))
        if known is None:
            bits = self._silent[name].copy()
            for ids in self._asked[name].satisfied(value):
                bits[ids] = True
            known = self._rows[name, value] = np.packbits(bits)
        return known


class Roaring(_WithArrays):
    def __init__(self, filters: Sequence[AttrFilter], keys: Sequence[str]) -> None:
        super().__init__(filters, keys)
        self._asked = columns(filters, list)
        everyone = BitMap(range(len(filters)))
        self._silent = {name: everyone - BitMap(column.spoken) for name, column in self._asked.items()}
        self._rows: dict[tuple[str, object], Any] = {}

    def forget(self) -> None:
        self._rows.clear()

    def match(self, content: Attributes) -> list[str]:
        return self._found(np.frombuffer(self.positions(content), dtype=np.uint32))

    def positions(self, content: Attributes) -> Ids:
        """Where the filters stand, which is no answer yet."""
        wanted = [self._row(name, content[name]) if name in content else self._silent[name] for name in self._asked]
        return BitMap.intersection(*sorted(wanted, key=len)).to_array()

    def _row(self, name: str, value: object) -> Any:
        known = self._rows.get((name, value))
        if known is None:
            satisfied = [id for ids in self._asked[name].satisfied(value) for id in ids]
            known = self._rows[name, value] = self._silent[name] | BitMap(satisfied)
        return known


class RoaringPositions(Roaring):
    """Without the keys: what more it would take to hand them over is not counted."""

    def match(self, content: Attributes) -> list[str]:
        return self.positions(content).tolist()


REFERENCES: dict[str, type[Reference]] = {
    "access predicate, pure Python": AccessPredicate,
    "dict/bisect counting": Counting,
    "numpy counting": NumpyCounting,
    "numpy bit rows": NumpyRows,
    "roaring bitmaps": Roaring,
    "roaring bitmaps, positions only": RoaringPositions,
}
