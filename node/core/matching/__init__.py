"""Which of many filters a content matches; which of many filters cover another, or are covered by it."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Protocol, TypeVar

from node.core.filters import Filter
from node.core.records import Content

Key = TypeVar("Key", bound=Hashable)
Holder = TypeVar("Holder")


class Matcher(Protocol[Key]):
    def add(self, key: Key, filter: Filter) -> None:
        """Raises KeyError if the key is there already."""

    def remove(self, key: Key) -> None:
        """Raises KeyError if there is no such key."""

    def match(self, content: Content, lang: str) -> list[Key]:
        """The keys of the filters of this language that match.

        They come by filter, in the order in which distinct filters came; those of one in the order in which they did.
        """


class Covering(Protocol):
    """A set of distinct filters. Answers come in the order in which the filters were added."""

    def add(self, filter: Filter) -> None:
        """Raises KeyError if an equal filter is there already."""

    def remove(self, filter: Filter) -> None:
        """Raises KeyError if there is no such filter."""

    def coverers(self, filter: Filter) -> list[Filter]:
        """Those that cover this one, which need not be in the set; an equal one is left out."""

    def covered(self, filter: Filter) -> list[Filter]:
        """Those that this one covers, likewise."""
