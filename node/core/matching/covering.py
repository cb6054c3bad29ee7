"""Who covers a filter and whom it covers, without asking everyone."""

from __future__ import annotations

from node.core.filters import Filter
from node.core.matching.signature import Signature, Token, signatures

_ANYTHING: Token = ()


class CoveringIndex:
    """The languages apart: no filter covers one of another language."""

    def __init__(self) -> None:
        self._parts: dict[str, _OneLanguage] = {}

    def __len__(self) -> int:
        return sum(len(part.numbers) for part in self._parts.values())

    def __contains__(self, filter: Filter) -> bool:
        part = self._parts.get(filter.lang)
        return part is not None and filter in part.numbers

    def add(self, filter: Filter) -> None:
        part = self._parts.get(filter.lang)
        if part is None:
            part = self._parts[filter.lang] = _OneLanguage()
        part.add(filter)

    def remove(self, filter: Filter) -> None:
        part = self._parts.get(filter.lang)
        if part is None:
            raise KeyError(filter)
        part.remove(filter)

    def coverers(self, filter: Filter) -> list[Filter]:
        part = self._parts.get(filter.lang)
        if part is None:
            return []
        return [other for other in part.may_cover(filter) if other is not filter and _covers(other, filter)]

    def covered(self, filter: Filter) -> list[Filter]:
        part = self._parts.get(filter.lang)
        if part is None:
            return []
        return [other for other in part.may_be_covered(filter) if other is not filter and _covers(filter, other)]


def _covers(wider: Filter, narrower: Filter) -> bool:
    return wider.covers(narrower) and wider != narrower


class _OneLanguage:
    """Each part of a filter waits under the rarest token it needs, and is listed under every token it offers.

    What is rare is decided anew whenever the number of filters has doubled.
    """

    def __init__(self) -> None:
        # A filter's number is that of its first part; parts are numbered in the order in which they came.
        self.numbers: dict[Filter, int] = {}
        self._filters: dict[int, Filter] = {}
        # The numbers of filters without parts: these match nothing, so everybody covers them.
        self._nothings: dict[int, None] = {}
        self._next_number = 0
        self._redecide_at = 32
        self._waits_at: dict[int, Token] = {}
        # Token -> number of a part -> the mask of what it needs.
        self._waiting: dict[Token, dict[int, int]] = {}
        # Token -> number of a first part -> the mask of what it offers. One part may speak for its filter here: of a
        # filter that is covered every part is.
        self._listed: dict[Token, dict[int, int]] = {}

    def add(self, filter: Filter) -> None:
        if filter in self.numbers:
            raise KeyError(filter)
        number = self.numbers[filter] = self._next_number
        parts = signatures(filter)
        self._next_number += max(1, len(parts))
        self._filters.update((number + nth, filter) for nth in range(max(1, len(parts))))
        if not parts:
            self._nothings[number] = None
        for first in parts[:1]:
            for token in (_ANYTHING, *first.offers):
                self._listed.setdefault(token, {})[number] = first.offers_mask
        if len(self.numbers) < self._redecide_at:
            self._wait(number, parts)
        else:
            self._redecide_at *= 2
            self._waiting.clear()
            for known, its_number in self.numbers.items():
                self._wait(its_number, signatures(known))

    def remove(self, filter: Filter) -> None:
        number = self.numbers.pop(filter)
        parts = signatures(filter)
        if not parts:
            del self._nothings[number]
        for first in parts[:1]:
            for token in (_ANYTHING, *first.offers):
                _discard(self._listed, token, number)
        for nth in range(len(parts)):
            _discard(self._waiting, self._waits_at.pop(number + nth), number + nth)
        for nth in range(max(1, len(parts))):
            del self._filters[number + nth]

    def may_cover(self, filter: Filter) -> list[Filter]:
        parts = signatures(filter)
        if not parts:
            return list(self.numbers)
        lacking = ~parts[0].offers_mask
        found: list[int] = []
        for token in (_ANYTHING, *parts[0].offers):
            waiting = self._waiting.get(token)
            if waiting is not None:
                found += [number for number, needed in waiting.items() if not needed & lacking]
        return self._in_order(found)

    def may_be_covered(self, filter: Filter) -> list[Filter]:
        found = list(self._nothings)
        for part in signatures(filter):
            needed = part.needs_mask
            listed = min((self._listed.get(token, {}) for token in part.needs or (_ANYTHING,)), key=len)
            found += [number for number, offered in listed.items() if offered & needed == needed]
        return self._in_order(found)

    def _wait(self, number: int, parts: tuple[Signature, ...]) -> None:
        for nth, part in enumerate(parts):
            token = min(part.needs or (_ANYTHING,), key=self._frequency)
            self._waiting.setdefault(token, {})[number + nth] = part.needs_mask
            self._waits_at[number + nth] = token

    def _frequency(self, token: Token) -> int:
        return len(self._listed.get(token, ()))

    def _in_order(self, numbers: list[int]) -> list[Filter]:
        """Each once, though several parts of it, or of who asks, may have led to it."""
        numbers.sort()
        filters = self._filters
        found = [filters[number] for number in numbers]
        # What is found twice stands side by side.
        return [each for nth, each in enumerate(found) if nth == 0 or each is not found[nth - 1]]


def _discard(index: dict[Token, dict[int, int]], token: Token, number: int) -> None:
    numbers = index[token]
    del numbers[number]
    if not numbers:
        del index[token]
