"""Many patterns against one document."""

from __future__ import annotations

from typing import Generic

from node.core.filters import ContentError, Filter
from node.core.filters.xpath import evaluation
from node.core.filters.xpath.document import Document, document
from node.core.filters.xpath.filter import XPathFilter
from node.core.matching import Holder
from node.core.matching.forest import Forest
from node.core.matching.layers import Items, Layers, Newcomers, Sizes
from node.core.records import Content

# Each part reads the whole document, which takes as long as to look for some patterns one by one: `make bench-matching`
# prints for how many. So there are few parts, of very different sizes.
SIZES = Sizes(waiting_max=16, part_max=131_072, joined_ratio_max=16)


class OneByOne(Newcomers[Document, Holder]):
    def __init__(self) -> None:
        self._holders: dict[Filter, Holder] = {}

    def __len__(self) -> int:
        return len(self._holders)

    def __contains__(self, filter: Filter) -> bool:
        return filter in self._holders

    def items(self) -> Items[Holder]:
        return list(self._holders.items())

    def add(self, filter: Filter, holder: Holder) -> None:
        self._holders[filter] = holder

    def replace(self, filter: Filter, holder: Holder) -> None:
        self._holders[filter] = holder

    def remove(self, filter: Filter) -> None:
        del self._holders[filter]

    def match(self, query: Document) -> list[Holder]:
        found = []
        for filter, holder in self._holders.items():
            assert isinstance(filter, XPathFilter)
            if filter.shape is not None and evaluation.holds(filter.shape, query):
                found.append(holder)
        return found


class PatternIndex(Generic[Holder]):
    def __init__(self) -> None:
        self._layers: Layers[Document, Holder] = Layers(SIZES, _steps, OneByOne, Forest)

    def add(self, filter: Filter, holder: Holder) -> None:
        self._layers.add(filter, holder)

    def replace(self, filter: Filter, holder: Holder) -> None:
        self._layers.replace(filter, holder)

    def remove(self, filter: Filter) -> None:
        self._layers.remove(filter)

    def match(self, content: Content) -> list[Holder]:
        if not isinstance(content, str):
            return []
        try:
            query = document(content)
        except ContentError:
            return []
        return self._layers.match(query)


def _steps(filter: Filter) -> int:
    assert isinstance(filter, XPathFilter)
    return 1 if filter.pattern is None else filter.pattern.size
