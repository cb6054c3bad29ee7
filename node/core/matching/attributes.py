"""Many attribute filters against one content."""

from __future__ import annotations

from typing import Generic

from node.core.filters import Filter
from node.core.filters.attr.filter import AttrFilter
from node.core.matching import Holder
from node.core.matching.layers import Layers, Sizes
from node.core.matching.packed import Query, pack
from node.core.matching.waiting import Waiting
from node.core.records import Content

# Beyond so many the rows of bits are ahead of those that wait: `make bench-matching` prints where they meet. Rows of
# double the length take double the time; of half, there are more of them.
SIZES = Sizes(waiting_max=64, part_max=65_536, joined_ratio_max=4)


class AttributeIndex(Generic[Holder]):
    def __init__(self) -> None:
        self._layers: Layers[Query, Holder] = Layers(SIZES, _conjunctions, Waiting, pack)

    def add(self, filter: Filter, holder: Holder) -> None:
        self._layers.add(filter, holder)

    def replace(self, filter: Filter, holder: Holder) -> None:
        self._layers.replace(filter, holder)

    def remove(self, filter: Filter) -> None:
        self._layers.remove(filter)

    def match(self, content: Content) -> list[Holder]:
        return self._layers.match(Query(content, frozenset(content))) if isinstance(content, dict) else []


def _conjunctions(filter: Filter) -> int:
    assert isinstance(filter, AttrFilter)
    return max(1, len(filter.conjunctions))
