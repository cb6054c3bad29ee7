"""Which of many filters a content matches."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Protocol, TypeVar

from node.core.filters import Filter
from node.core.records import Content

Key = TypeVar("Key", bound=Hashable)


class Matcher(Protocol[Key]):
    def add(self, key: Key, filter: Filter) -> None:
        """Raises KeyError if the key is there already."""

    def remove(self, key: Key) -> None:
        """Raises KeyError if there is no such key."""

    def match(self, content: Content, lang: str) -> list[Key]:
        """The keys of the filters of this language that match, in the order in which they were added."""
