"""Every distinct filter is tried: the twin that cleverer matchers are measured against."""

from __future__ import annotations

from typing import Generic

from node.core.filters import Filter
from node.core.matching import Key
from node.core.records import Content


class NaiveMatcher(Generic[Key]):
    def __init__(self) -> None:
        self._filters: dict[Key, Filter] = {}
        self._keys: dict[Filter, dict[Key, None]] = {}

    def __len__(self) -> int:
        return len(self._filters)

    def add(self, key: Key, filter: Filter) -> None:
        if key in self._filters:
            raise KeyError(key)
        self._filters[key] = filter
        self._keys.setdefault(filter, {})[key] = None

    def remove(self, key: Key) -> None:
        filter = self._filters.pop(key)
        keys = self._keys[filter]
        del keys[key]
        if not keys:
            del self._keys[filter]

    def match(self, content: Content, lang: str) -> list[Key]:
        return [
            key
            for filter, keys in self._keys.items()
            if filter.lang == lang and filter.matches(content)
            for key in keys
        ]
