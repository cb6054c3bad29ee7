"""Every filter is asked: the twin that a cleverer covering index is tested against."""

from __future__ import annotations

from node.core.filters import Filter


class NaiveCovering:
    def __init__(self) -> None:
        self._filters: dict[Filter, None] = {}

    def __len__(self) -> int:
        return len(self._filters)

    def __contains__(self, filter: Filter) -> bool:
        return filter in self._filters

    def add(self, filter: Filter) -> None:
        if filter in self._filters:
            raise KeyError(filter)
        self._filters[filter] = None

    def remove(self, filter: Filter) -> None:
        del self._filters[filter]

    def coverers(self, filter: Filter) -> list[Filter]:
        return [other for other in self._filters if other != filter and other.covers(filter)]

    def covered(self, filter: Filter) -> list[Filter]:
        return [other for other in self._filters if other != filter and filter.covers(other)]
