"""The matcher that brokers use: an index for each language that has one, and everyone is asked for the others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Generic, Protocol, cast

from node.core.filters import Filter
from node.core.matching import Holder, Key
from node.core.matching.attributes import AttributeIndex
from node.core.matching.patterns import PatternIndex
from node.core.records import Content

_NOBODY: Any = object()


class Sharers(Generic[Key]):
    """The keys of one filter, if there are several."""

    __slots__ = ("keys",)

    def __init__(self, keys: Iterable[Key]) -> None:
        self.keys: dict[Key, None] = dict.fromkeys(keys)


class FilterSet(Protocol[Holder]):
    """Distinct filters of one language, each with what stands for it."""

    def add(self, filter: Filter, holder: Holder) -> None: ...

    def replace(self, filter: Filter, holder: Holder) -> None:
        """Another holder for a filter that is there; it keeps its place."""

    def remove(self, filter: Filter) -> None: ...

    def match(self, content: Content) -> list[Holder]:
        """The holders of all the filters that match, in the order in which these came."""


class Everyone(Generic[Holder]):
    def __init__(self) -> None:
        self._holders: dict[Filter, Holder] = {}

    def add(self, filter: Filter, holder: Holder) -> None:
        self._holders[filter] = holder

    def replace(self, filter: Filter, holder: Holder) -> None:
        self._holders[filter] = holder

    def remove(self, filter: Filter) -> None:
        del self._holders[filter]

    def match(self, content: Content) -> list[Holder]:
        return [holder for filter, holder in self._holders.items() if filter.matches(content)]


class FilterIndex(Generic[Key]):
    def __init__(self) -> None:
        self._filters: dict[Key, Filter] = {}
        # Equal filters are asked once.
        self._holders: dict[Filter, Key | Sharers[Key]] = {}
        self._sets: dict[str, FilterSet[Key | Sharers[Key]]] = {}
        self._shared = 0
        """How many filters have several keys."""

    def __len__(self) -> int:
        return len(self._filters)

    def add(self, key: Key, filter: Filter) -> None:
        if key in self._filters:
            raise KeyError(key)
        self._filters[key] = filter
        holder = self._holders.get(filter, _NOBODY)
        if isinstance(holder, Sharers):
            holder.keys[key] = None
        elif holder is _NOBODY:
            self._holders[filter] = key
            self._set(filter.lang).add(filter, key)
        else:
            self._shared += 1
            self._replace(filter, Sharers([holder, key]))

    def remove(self, key: Key) -> None:
        filter = self._filters.pop(key)
        holder = self._holders[filter]
        if not isinstance(holder, Sharers):
            del self._holders[filter]
            self._sets[filter.lang].remove(filter)
            return
        del holder.keys[key]
        if len(holder.keys) == 1:
            self._shared -= 1
            self._replace(filter, next(iter(holder.keys)))

    def match(self, content: Content, lang: str) -> list[Key]:
        filters = self._sets.get(lang)
        if filters is None:
            return []
        found = filters.match(content)
        return _keys(found) if self._shared else cast(list[Key], found)

    def _replace(self, filter: Filter, holder: Key | Sharers[Key]) -> None:
        self._holders[filter] = holder
        self._sets[filter.lang].replace(filter, holder)

    def _set(self, lang: str) -> FilterSet[Key | Sharers[Key]]:
        filters = self._sets.get(lang)
        if filters is None:
            filters = self._sets[lang] = _filter_set(lang)
        return filters


def _keys(holders: list[Key | Sharers[Key]]) -> list[Key]:
    keys: list[Key] = []
    for holder in holders:
        if isinstance(holder, Sharers):
            keys += holder.keys
        else:
            keys.append(holder)
    return keys


def _filter_set(lang: str) -> FilterSet[Any]:
    match lang:
        case "attr":
            return AttributeIndex()
        case "xpath":
            return PatternIndex()
        case _:
            return Everyone()
