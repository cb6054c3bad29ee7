"""XML documents that are valid to a DTD.

A document grows breadth-first: element after element gets what its content model asks for and, as long as the
document has not reached its size, of what the model allows, chosen by Zipf's law over the order of the DTD, as the
patterns are. Breadth-first, because a document that grew into its depth would end in its first paragraph.
"""

from __future__ import annotations

from itertools import accumulate
from random import Random
from xml.sax.saxutils import escape, quoteattr

from controller.workloads.news.dtd import Dtd, Model

REPEATED_MAX = 4
OPTIONAL = 0.5
ATTRIBUTE = 0.15
WORDS = (
    "the", "minister", "said", "on", "Monday", "that", "prices", "rose", "again", "after", "talks", "failed", "in",
    "Zürich", "<unnamed>", "& sons", "court", "storm", "strike", "goal", "vote", "bank", "river", "record",
)  # fmt: skip


class _Node:
    def __init__(self, name: str) -> None:
        self.name = name
        self.attributes: list[tuple[str, str]] = []
        self.content: list[_Node | str] = []

    def __str__(self) -> str:
        said = "".join(f" {name}={quoteattr(value)}" for name, value in self.attributes)
        inside = "".join(escape(one) if isinstance(one, str) else str(one) for one in self.content)
        return f"<{self.name}{said}>{inside}</{self.name}>" if inside else f"<{self.name}{said}/>"


class Writer:
    def __init__(self, dtd: Dtd, elements: int, theta: float, random: Random) -> None:
        self._dtd = dtd
        self._elements = elements
        self._theta = theta
        self._random = random
        self._left = 0

    def document(self) -> str:
        """Of about `elements` elements: from half as many to half as many again, if the DTD lets it grow so far."""
        self._left = self._random.randint(self._elements // 2, self._elements * 3 // 2)
        root = _Node(self._dtd.root)
        waiting = [root]
        for node in waiting:
            self._fill(node)
            waiting += [one for one in node.content if isinstance(one, _Node)]
        return str(root)

    def _fill(self, node: _Node) -> None:
        element = self._dtd.elements[node.name]
        for attribute in element.attributes:
            if self._random.random() < ATTRIBUTE:
                node.attributes.append((attribute.name, self._random.choice(attribute.values or WORDS)))
        for name in self._names(element.model) if element.model else ():
            if name:
                self._left -= 1
                node.content.append(_Node(name))
            else:
                node.content.append(" ".join(self._random.choices(WORDS, k=self._random.randint(1, 4))))

    def _names(self, model: Model) -> list[str]:
        """Names of elements, in an order that the model allows; an empty name stands for text."""
        return [name for _ in range(self._times(model.occur)) for name in self._once(model)]

    def _once(self, model: Model) -> list[str]:
        if model.kind in ("element", "pcdata"):
            return [model.name]
        if model.kind == "seq":
            return [name for part in model.parts for name in self._names(part)]
        ranks = list(accumulate(1 / rank**self._theta for rank in range(1, len(model.parts) + 1)))
        return self._names(self._random.choices(model.parts, cum_weights=ranks)[0])

    def _times(self, occur: str) -> int:
        least = 1 if occur in ("once", "plus") else 0
        if occur == "once" or self._left <= 0:
            return least
        if occur == "opt":
            return int(self._random.random() < OPTIONAL)
        return self._random.randint(max(1, least), REPEATED_MAX)
