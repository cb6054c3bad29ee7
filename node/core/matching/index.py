"""The matcher that brokers use: an index for each language that has one, and everyone is asked for the others."""

from __future__ import annotations

from typing import Generic, Protocol

from node.core.filters import Filter
from node.core.matching import Key
from node.core.matching.attributes import AttributeIndex
from node.core.matching.patterns import PatternIndex
from node.core.records import Content


class FilterSet(Protocol[Key]):
    """Distinct filters of one language, each with its holders: the keys by the number under which they were added."""

    def add(self, filter: Filter, holders: dict[int, Key]) -> None: ...

    def remove(self, filter: Filter) -> None: ...

    def match(self, content: Content) -> dict[int, Key]:
        """The holders of all the filters that match, in any order."""


class Everyone(Generic[Key]):
    def __init__(self) -> None:
        self._holders: dict[Filter, dict[int, Key]] = {}

    def add(self, filter: Filter, holders: dict[int, Key]) -> None:
        self._holders[filter] = holders

    def remove(self, filter: Filter) -> None:
        del self._holders[filter]

    def match(self, content: Content) -> dict[int, Key]:
        found: dict[int, Key] = {}
        for filter, holders in self._holders.items():
            if filter.matches(content):
                found.update(holders)
        return found


class FilterIndex(Generic[Key]):
    def __init__(self) -> None:
        self._filters: dict[Key, tuple[Filter, int]] = {}
        # Equal filters are asked once. The index of a language holds the inner dicts, so these change in place.
        self._holders: dict[Filter, dict[int, Key]] = {}
        self._sets: dict[str, FilterSet[Key]] = {}
        self._added = 0

    def __len__(self) -> int:
        return len(self._filters)

    def add(self, key: Key, filter: Filter) -> None:
        if key in self._filters:
            raise KeyError(key)
        number = self._added
        self._added += 1
        self._filters[key] = (filter, number)
        holders = self._holders.get(filter)
        if holders is None:
            holders = self._holders[filter] = {}
            self._set(filter.lang).add(filter, holders)
        holders[number] = key

    def remove(self, key: Key) -> None:
        filter, number = self._filters.pop(key)
        holders = self._holders[filter]
        del holders[number]
        if not holders:
            del self._holders[filter]
            self._sets[filter.lang].remove(filter)

    def match(self, content: Content, lang: str) -> list[Key]:
        filters = self._sets.get(lang)
        if filters is None:
            return []
        found = filters.match(content)
        return [found[number] for number in sorted(found)]

    def _set(self, lang: str) -> FilterSet[Key]:
        filters = self._sets.get(lang)
        if filters is None:
            filters = self._sets[lang] = _filter_set(lang)
        return filters


def _filter_set(lang: str) -> FilterSet[Key]:
    match lang:
        case "attr":
            return AttributeIndex()
        case "xpath":
            return PatternIndex()
        case _:
            return Everyone()
