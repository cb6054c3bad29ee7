"""Many attribute filters against one content.

Few filters, and those that came lately, wait under one constraint each (`Waiting`); the others are rows of bits
(`Packed`), which cost more to build and less to ask. What came lately is packed when it has grown to a share of the
rest, so that adding stays cheap on average.
"""

from __future__ import annotations

from typing import Generic

from node.core.filters import Filter
from node.core.filters.attr.filter import AttrFilter
from node.core.matching import Key
from node.core.matching.packed import Packed
from node.core.matching.waiting import Waiting
from node.core.records import Content

# A guess, not yet measured apart: below this many, rows of bits should not be worth their making.
WAITING_MAX = 1_000
# One in so many may wait before all are packed anew.
PACKED_PER_WAITING = 16


class AttributeIndex(Generic[Key]):
    def __init__(self) -> None:
        self._filters: dict[Filter, dict[int, Key]] = {}
        self._waiting: Waiting[dict[int, Key]] = Waiting()
        self._packed: Packed[dict[int, Key]] | None = None

    def add(self, filter: Filter, holders: dict[int, Key]) -> None:
        assert isinstance(filter, AttrFilter)
        self._filters[filter] = holders
        self._waiting.add(filter, holders)

    def remove(self, filter: Filter) -> None:
        assert isinstance(filter, AttrFilter)
        del self._filters[filter]
        if filter in self._waiting:
            self._waiting.remove(filter)
        elif self._packed is not None:
            self._packed.remove(filter)

    def match(self, content: Content) -> dict[int, Key]:
        found: dict[int, Key] = {}
        if not isinstance(content, dict):
            return found
        if self._is_due():
            self._pack()
        self._waiting.collect(content, found)
        if self._packed is not None:
            self._packed.collect(content, found)
        return found

    def _is_due(self) -> bool:
        packed = self._packed
        if len(self._waiting) > WAITING_MAX:
            return packed is None or len(self._waiting) * PACKED_PER_WAITING > packed.size
        return packed is not None and packed.dead * 2 > packed.size

    def _pack(self) -> None:
        self._waiting = Waiting()
        self._packed = None
        if len(self._filters) > WAITING_MAX:
            self._packed = Packed(self._filters)
        else:
            for filter, holders in self._filters.items():
                assert isinstance(filter, AttrFilter)
                self._waiting.add(filter, holders)
