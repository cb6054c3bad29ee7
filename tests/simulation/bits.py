"""Filters as sets of a few possible events, written as bits: covering is exact, and everything can be tried."""

from __future__ import annotations

from node.core.filters import Filter
from node.core.records import Content


class Bits(Filter):
    __slots__ = ("events",)

    lang = "bits"  # type: ignore[assignment]  # a language that no index knows

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.events = frozenset(place for place, bit in enumerate(text) if bit == "1")

    def matches(self, content: Content) -> bool:
        return content in self.events

    def covers(self, other: Filter) -> bool:
        return isinstance(other, Bits) and self.events >= other.events

    def intersects(self, other: Filter) -> bool:
        return isinstance(other, Bits) and bool(self.events & other.events)

    def merge(self, other: Filter) -> Filter | None:
        return None
