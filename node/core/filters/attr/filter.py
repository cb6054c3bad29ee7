from __future__ import annotations

from collections.abc import Iterable

from node.core.filters.attr.conjunction import Conjunction, conjunction
from node.core.filters.attr.syntax import ANYTHING, read
from node.core.filters.base import Filter
from node.core.records import Content

# No string comes before the empty one.
NEVER = 'never < ""'


class AttrFilter(Filter):
    __slots__ = ("_tests", "conjunctions")

    lang = "attr"

    def __init__(self, conjunctions: Iterable[Conjunction]) -> None:
        self.conjunctions = _maximal(conjunctions)
        self._tests = tuple(each.tests for each in self.conjunctions)
        super().__init__(" or ".join(each.text or ANYTHING for each in self.conjunctions) or NEVER)

    def matches(self, content: Content) -> bool:
        if not isinstance(content, dict):
            return False
        value_of = content.get
        for tests in self._tests:
            for name, test in tests:
                # Most tests fail because the attribute is absent; that is seen without a call.
                value = value_of(name)
                if value is None or not test(value):
                    break
            else:
                return True
        return False

    def covers(self, other: Filter) -> bool:
        if self is other:
            return True
        if not isinstance(other, AttrFilter):
            return False
        return all(any(mine.covers(each) for mine in self.conjunctions) for each in other.conjunctions)

    def intersects(self, other: Filter) -> bool:
        if not isinstance(other, AttrFilter):
            return False
        return any(mine.intersects(each) for mine in self.conjunctions for each in other.conjunctions)

    def merge(self, other: Filter) -> Filter | None:
        if not isinstance(other, AttrFilter):
            return None
        if self.covers(other):
            return self
        if other.covers(self):
            return other
        both = AttrFilter(_fused(*self.conjunctions, *other.conjunctions))
        return both if len(both.conjunctions) < len(self.conjunctions) + len(other.conjunctions) else None


def attr_filter(text: str) -> AttrFilter:
    normal = (conjunction(constraints) for constraints in read(text))
    return AttrFilter(each for each in normal if each is not None)


def _maximal(conjunctions: Iterable[Conjunction]) -> tuple[Conjunction, ...]:
    """Those that no other covers, sorted by text."""
    distinct = {each.text: each for each in conjunctions}
    kept = [
        each
        for each in distinct.values()
        if not any(other is not each and other.covers(each) for other in distinct.values())
    ]
    return tuple(sorted(kept, key=lambda each: each.text))


def _fused(*conjunctions: Conjunction) -> list[Conjunction]:
    """The same contents in fewer conjunctions, where two of them are one."""
    kept: list[Conjunction] = []
    waiting = list(conjunctions)
    while waiting:
        one = waiting.pop(0)
        for at, other in enumerate(kept):
            both = one.union(other)
            if both is not None:
                del kept[at]
                waiting.append(both)
                break
        else:
            kept.append(one)
    return kept
