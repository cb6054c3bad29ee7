from __future__ import annotations

from abc import ABC, abstractmethod
from hashlib import blake2b
from typing import ClassVar, final

from node.core.records import Content, Lang


class Filter(ABC):
    """An immutable filter in normal form.

    Its text is a function of the normal form and the other way round, so identity, order and hash are those of
    (`lang`, text). The hash does not use Python's string hash, which differs from process to process.
    """

    __slots__ = ("_hash", "_text")

    lang: ClassVar[Lang]

    def __init__(self, text: str) -> None:
        self._text = text
        digest = blake2b(f"{self.lang} {text}".encode(), digest_size=7).digest()
        self._hash = int.from_bytes(digest, "big")

    @abstractmethod
    def matches(self, content: Content) -> bool:
        """Whether a content of this filter's language matches; a content of another language never does."""

    @abstractmethod
    def covers(self, other: Filter) -> bool:
        """True only if every content that matches `other` matches this filter; transitive; may say no wrongly."""

    @abstractmethod
    def intersects(self, other: Filter) -> bool:
        """False only if no content matches both; may say yes wrongly."""

    @abstractmethod
    def merge(self, other: Filter) -> Filter | None:
        """One filter that matches exactly what either matches and says it with less; None if none is known."""

    @final
    def __str__(self) -> str:
        return self._text

    @final
    def __repr__(self) -> str:
        return f"parse({self._text!r}, {self.lang!r})"

    @final
    def __hash__(self) -> int:
        return self._hash

    @final
    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Filter):
            return NotImplemented
        return self._hash == other._hash and self._text == other._text and self.lang == other.lang

    @final
    def __lt__(self, other: Filter) -> bool:
        return (self.lang, self._text) < (other.lang, other._text)

    @final
    def __le__(self, other: Filter) -> bool:
        return (self.lang, self._text) <= (other.lang, other._text)

    @final
    def __gt__(self, other: Filter) -> bool:
        return (self.lang, self._text) > (other.lang, other._text)

    @final
    def __ge__(self, other: Filter) -> bool:
        return (self.lang, self._text) >= (other.lang, other._text)
