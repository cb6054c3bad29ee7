"""Many patterns against one document: a branch that several patterns have in common is looked for once."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Set
from typing import Generic

from node.core.filters import ContentError, Filter
from node.core.filters.xpath.document import Document, document
from node.core.filters.xpath.filter import XPathFilter
from node.core.filters.xpath.pattern import Attributes, Step
from node.core.filters.xpath.syntax import ANY
from node.core.matching import Holder
from node.core.records import Content

_NOWHERE: frozenset[int] = frozenset()


class _Branch:
    """A step with all that is below it; equal ones are one object."""

    __slots__ = ("branches", "is_deep", "name", "path", "tests", "uses")

    def __init__(self, step: Step, branches: tuple[_Branch, ...]) -> None:
        self.path = step.path
        self.is_deep = step.is_deep
        self.name = step.name
        has_tests = step.attributes or step.value is not None
        self.tests: tuple[Attributes, str | None] | None = (step.attributes, step.value) if has_tests else None
        self.branches = branches
        self.uses = 0


class PatternIndex(Generic[Holder]):
    def __init__(self) -> None:
        self._branches: dict[str, _Branch] = {}
        # Filters that match nothing have no branch, and are not asked.
        self._tops: dict[Filter, tuple[_Branch, Holder]] = {}

    def add(self, filter: Filter, holder: Holder) -> None:
        assert isinstance(filter, XPathFilter)
        if filter.pattern is not None:
            self._tops[filter] = (self._use(filter.pattern), holder)

    def replace(self, filter: Filter, holder: Holder) -> None:
        if filter in self._tops:
            self._tops[filter] = (self._tops[filter][0], holder)

    def remove(self, filter: Filter) -> None:
        if filter in self._tops:
            self._release(self._tops.pop(filter)[0])

    def match(self, content: Content) -> list[Holder]:
        found: list[Holder] = []
        if not isinstance(content, str) or not self._tops:
            return found
        try:
            search = _Search(document(content))
        except ContentError:
            return found
        names = search.document.numbers
        for top, holder in self._tops.values():
            if (top.name in names or top.name == ANY) and -1 in search.above(top):
                found.append(holder)
        return found

    def _use(self, step: Step) -> _Branch:
        branch = self._branches.get(step.path)
        if branch is None:
            branch = self._branches[step.path] = _Branch(step, tuple(self._use(child) for child in step.children))
        branch.uses += 1
        return branch

    def _release(self, branch: _Branch) -> None:
        branch.uses -= 1
        if not branch.uses:
            del self._branches[branch.path]
            for below in branch.branches:
                self._release(below)


class _Search:
    """What is known so far about one document."""

    def __init__(self, read: Document) -> None:
        self.document = read
        self._above: dict[_Branch, Set[int]] = {}

    def above(self, branch: _Branch) -> Set[int]:
        """The elements below which the branch lies, as its axis wants; -1 is what is above the root."""
        known = self._above.get(branch)
        if known is None:
            known = self._above[branch] = self._look(branch)
        return known

    def _look(self, branch: _Branch) -> Set[int]:
        read = self.document
        if branch.name != ANY and branch.name not in read.numbers:
            return _NOWHERE
        wanted: list[Set[int]] = []
        for below in branch.branches:
            each = self.above(below)
            if not each:
                return _NOWHERE
            wanted.append(each)
        found: Collection[int]
        found = read.numbers[branch.name] if branch.name != ANY else range(len(read))
        for each in wanted:
            found = [element for element in found if element in each]
        if branch.tests is not None:
            tests = branch.tests
            found = [element for element in found if _passes(read, element, tests)]
        if not found:
            return _NOWHERE
        parents = read.parents
        return _ancestors(found, parents) if branch.is_deep else {parents[element] for element in found}


def _ancestors(elements: Iterable[int], parents: tuple[int, ...]) -> set[int]:
    found = {-1}
    for element in elements:
        above = parents[element]
        while above not in found:
            found.add(above)
            above = parents[above]
    return found


def _passes(read: Document, element: int, tests: tuple[Attributes, str | None]) -> bool:
    attributes, value = tests
    own = read.attributes[element]
    if any(name not in own or wanted not in (None, own[name]) for name, wanted in attributes):
        return False
    return value is None or read.value(element) == value
