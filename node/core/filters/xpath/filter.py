from __future__ import annotations

from node.core.filters.base import Filter
from node.core.filters.errors import ContentError
from node.core.filters.xpath import evaluation, union
from node.core.filters.xpath.document import document
from node.core.filters.xpath.normal import normal
from node.core.filters.xpath.pattern import Step
from node.core.filters.xpath.shape import Shape, embeds, signature
from node.core.filters.xpath.syntax import read
from node.core.records import Content

NEVER = '/never[.="1"][.="2"]'


class XPathFilter(Filter):
    """`pattern` is the normal form, None if no document can match."""

    __slots__ = ("_lacks", "_needs", "_shape", "pattern")

    lang = "xpath"

    def __init__(self, pattern: Step | None) -> None:
        self.pattern = pattern
        # Most filters that do not cover another one lack something that is seen at once.
        self._needs = 0 if pattern is None else signature(pattern)
        self._lacks = ~self._needs
        self._shape: Shape | None = None
        super().__init__(NEVER if pattern is None else pattern.path)

    @property
    def shape(self) -> Shape | None:
        """The pattern laid out flat, made when it is first needed: many filters are never compared in earnest."""
        if self._shape is None and self.pattern is not None:
            self._shape = Shape(self.pattern)
        return self._shape

    def matches(self, content: Content) -> bool:
        shape = self.shape
        if shape is None or not isinstance(content, str):
            return False
        try:
            return evaluation.holds(shape, document(content))
        except ContentError:
            return False

    def covers(self, other: Filter) -> bool:
        if self is other:
            return True
        if not isinstance(other, XPathFilter):
            return False
        if self._needs & other._lacks and other.pattern is not None:
            return False
        mine, theirs = self._shape or self.shape, other._shape or other.shape
        if theirs is None or mine is None:
            return theirs is None
        return embeds(mine, theirs)

    def intersects(self, other: Filter) -> bool:
        if not isinstance(other, XPathFilter) or self.pattern is None or other.pattern is None:
            return False
        return union.are_compatible(self.pattern, other.pattern)

    def merge(self, other: Filter) -> Filter | None:
        if not isinstance(other, XPathFilter):
            return None
        if self.covers(other):
            return self
        if other.covers(self):
            return other
        # Neither is None: a filter that matches nothing is covered.
        assert self.pattern is not None
        assert other.pattern is not None
        both = union.join(self.pattern, other.pattern) or union.join(other.pattern, self.pattern)
        return None if both is None else XPathFilter(both)


def xpath_filter(text: str) -> XPathFilter:
    return XPathFilter(normal(read(text)))
