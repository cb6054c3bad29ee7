"""Filters in layers: what came last waits, the others are packed into parts in which thousands are asked at once.

Parts stand in the order in which their filters came. One is made once, and after that only loses filters; small ones
are made into larger ones, the larger the more rarely, so that adding stays cheap however many filters there are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Generic, NamedTuple, TypeVar

from node.core.filters import Filter
from node.core.matching import Holder
from node.core.matching.harvest import Harvest, Hits, Sheaf

Query = TypeVar("Query")
Items = list[tuple[Filter, Holder]]


class Sizes(NamedTuple):
    waiting_max: int
    """Filters; when there are more, all are packed."""
    part_max: int
    """Slots."""
    joined_ratio_max: int
    """A part joins the one beside it unless that one is more than so many times larger."""


class Newcomers(ABC, Generic[Query, Holder]):
    """Few filters, and adding one costs little."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def __contains__(self, filter: Filter) -> bool: ...

    @abstractmethod
    def items(self) -> Items[Holder]:
        """In the order in which they came."""

    @abstractmethod
    def add(self, filter: Filter, holder: Holder) -> None: ...

    @abstractmethod
    def replace(self, filter: Filter, holder: Holder) -> None: ...

    @abstractmethod
    def remove(self, filter: Filter) -> None: ...

    @abstractmethod
    def match(self, query: Query) -> list[Holder]:
        """The holders of those that match, in the order in which they came."""


class Part(Sheaf[Holder], ABC, Generic[Query, Holder]):
    """Filters of which each has one slot or more, side by side, and its holder at the first."""

    def __init__(self, slots: dict[Filter, int], holders: list[Holder | None]) -> None:
        super().__init__(holders)
        self.slots = slots
        self._born = len(slots)

    @property
    def is_half_empty(self) -> bool:
        return len(self.slots) * 2 <= self._born

    def items(self) -> Items[Holder]:
        holders: list[Holder] = self.holders  # type: ignore[assignment]  # a filter's slot has a holder
        return [(filter, holders[slot]) for filter, slot in self.slots.items()]

    def remove(self, filter: Filter) -> None:
        slot = self.slots.pop(filter)
        self.holders[slot] = None
        self.bury(slot)

    @abstractmethod
    def bury(self, slot: int) -> None:
        """There are no more hits at this slot."""

    @abstractmethod
    def hits(self, query: Query) -> Hits:
        """The slots of the filters that match."""


class Layers(Generic[Query, Holder]):
    def __init__(
        self,
        sizes: Sizes,
        weight: Callable[[Filter], int],
        newcomers: Callable[[], Newcomers[Query, Holder]],
        pack: Callable[[Items[Holder]], Part[Query, Holder]],
    ) -> None:
        """`weight`: how many slots a filter needs."""
        self._sizes = sizes
        self._weight = weight
        self._newcomers = newcomers
        self._pack = pack
        # What came since the last question, then what waits to be packed, then what is.
        self._fresh: dict[Filter, Holder] = {}
        self._waiting = newcomers()
        self._parts: list[Part[Query, Holder]] = []
        self._harvest: Harvest[Holder] = Harvest()

    def add(self, filter: Filter, holder: Holder) -> None:
        self._fresh[filter] = holder

    def replace(self, filter: Filter, holder: Holder) -> None:
        if filter in self._fresh:
            self._fresh[filter] = holder
        elif filter in self._waiting:
            self._waiting.replace(filter, holder)
        else:
            at = self._part_of(filter)
            self._harvest.replace(at, self._parts[at].slots[filter], holder)

    def remove(self, filter: Filter) -> None:
        if filter in self._fresh:
            del self._fresh[filter]
        elif filter in self._waiting:
            self._waiting.remove(filter)
        else:
            at = self._part_of(filter)
            part = self._parts[at]
            part.remove(filter)
            if part.is_half_empty:
                self._put(at, at + 1, part.items())

    def match(self, query: Query) -> list[Holder]:
        if self._fresh:
            self._take_in()
        if not self._parts:
            return self._waiting.match(query)
        found = self._harvest.gather([part.hits(query) for part in self._parts])
        return found + self._waiting.match(query) if len(self._waiting) else found

    def _take_in(self) -> None:
        fresh, self._fresh = self._fresh, {}
        if len(self._waiting) + len(fresh) <= self._sizes.waiting_max:
            for filter, holder in fresh.items():
                self._waiting.add(filter, holder)
        else:
            items, self._waiting = [*self._waiting.items(), *fresh.items()], self._newcomers()
            self._put(len(self._parts), len(self._parts), items)

    def _part_of(self, filter: Filter) -> int:
        return next(at for at, part in enumerate(self._parts) if filter in part.slots)

    def _put(self, start: int, stop: int, items: Items[Holder]) -> None:
        """New parts with these filters take the place of those from `start` to `stop`, and of small ones beside."""
        parts = self._parts
        size = sum(self._weight(filter) for filter, _ in items)
        while start > 0 and self._may_join(parts[start - 1].width, size):
            start -= 1
            items = parts[start].items() + items
            size += parts[start].width
        while stop < len(parts) and self._may_join(parts[stop].width, size):
            items = items + parts[stop].items()
            size += parts[stop].width
            stop += 1
        self._parts = [*parts[:start], *map(self._pack, self._portions(items)), *parts[stop:]]
        self._harvest.bring(self._parts)

    def _may_join(self, neighbour: int, size: int) -> bool:
        return neighbour + size <= self._sizes.part_max and neighbour <= self._sizes.joined_ratio_max * size

    def _portions(self, items: Items[Holder]) -> Iterator[Items[Holder]]:
        portion: Items[Holder] = []
        size = 0
        for item in items:
            weight = self._weight(item[0])
            if portion and size + weight > self._sizes.part_max:
                yield portion
                portion, size = [], 0
            portion.append(item)
            size += weight
        if portion:
            yield portion
