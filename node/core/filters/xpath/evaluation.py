"""Whether a document holds a pattern: bottom-up, for each step the elements it can lie on, in one pass each."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from node.core.filters.xpath.document import Document
from node.core.filters.xpath.pattern import Tests
from node.core.filters.xpath.shape import Shape
from node.core.filters.xpath.syntax import ANY


def holds(shape: Shape, document: Document) -> bool:
    numbers, parents = document.numbers, document.parents
    # For each step done: the elements with a child, or a descendant, that it can lie on; as its axis wants.
    above: list[set[int]] = []
    found: Collection[int] = ()
    for row, step in zip(shape.rows, shape.steps, strict=True):
        wanted = [above[child] for child in (*row.near, *row.deep)]
        if row.name != ANY:
            found = numbers.get(row.name, ())
        else:
            # The document itself, -1, is above everything, but no element.
            found = min(wanted, key=len) - {-1} if wanted else range(len(parents))
        for each in wanted:
            if each is not found:
                found = [element for element in found if element in each]
        if row.tests is not None:
            found = [element for element in found if passes(document, element, row.tests)]
        if not found:
            return False
        above.append(_ancestors(found, parents) if step.is_deep else {parents[element] for element in found})
    return -1 in above[-1]


def _ancestors(elements: Iterable[int], parents: Sequence[int]) -> set[int]:
    """All of them, and -1 for the document itself."""
    found: set[int] = {-1}
    for element in elements:
        above = parents[element]
        while above not in found:
            found.add(above)
            above = parents[above]
    return found


def passes(document: Document, element: int, tests: Tests) -> bool:
    """Whether an element has the attributes and the text that a step asks for."""
    attributes, value = tests
    own = document.attributes[element]
    for name, wanted in attributes:
        if name not in own or (wanted is not None and own[name] != wanted):
            return False
    if value is None:
        return True
    start, stop = document.spans[element]
    return stop - start == len(value) and document.text.startswith(value, start)
