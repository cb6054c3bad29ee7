"""A pattern: a tree of steps that a document holds if the tree can be laid onto its elements."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from node.core.filters.xpath.syntax import ANY

Attributes = tuple[tuple[str, str | None], ...]
Tests = tuple[Attributes, str | None]


class Step:
    """One element that a document must have; immutable, and told completely by `is_deep` and `text`.

    It is a child of its parent's element (of the document itself for the first step), or with `is_deep` (`//`) any
    descendant. Branches and the continuation of a path are the same thing: `children`, in the order of `sort_key`.
    """

    __slots__ = ("attributes", "children", "is_deep", "name", "size", "text", "value")

    name: str  # `*`: any
    attributes: Attributes  # sorted by name, each once; no value: it is there
    value: str | None  # what `.` equals
    size: int  # how many steps, this one included
    text: str  # of this step and those below it, without its axis

    def __init__(
        self, is_deep: bool, name: str, attributes: Attributes, value: str | None, children: Iterable[Step]
    ) -> None:
        self.is_deep = is_deep
        self.name = name
        self.attributes = attributes
        self.value = value
        self.children: tuple[Step, ...] = tuple(sorted(children, key=sort_key))
        self.size = 1 + sum(child.size for child in self.children)
        self.text = "".join(self._words())

    @property
    def is_plain(self) -> bool:
        """Whether any element will do, as far as this step alone is concerned."""
        return self.name == ANY and not self.attributes and self.value is None

    @property
    def tests(self) -> Tests | None:
        """What the element must have besides its name."""
        return (self.attributes, self.value) if self.attributes or self.value is not None else None

    @property
    def path(self) -> str:
        return f"{'//' if self.is_deep else '/'}{self.text}"

    def steps(self) -> Iterator[Step]:
        """This one and all below it, parents first."""
        waiting = [self]
        while waiting:
            step = waiting.pop()
            yield step
            waiting.extend(reversed(step.children))

    def with_children(self, children: Iterable[Step]) -> Step:
        return Step(self.is_deep, self.name, self.attributes, self.value, children)

    def with_axis(self, is_deep: bool) -> Step:
        if is_deep == self.is_deep:
            return self
        return Step(is_deep, self.name, self.attributes, self.value, self.children)

    def _words(self) -> Iterator[str]:
        yield self.name
        for name, value in self.attributes:
            yield f"[@{name}]" if value is None else f'[@{name}="{value}"]'
        if self.value is not None:
            yield f'[.="{self.value}"]'
        for child in self.children[:-1]:
            yield f"[{'.//' if child.is_deep else ''}{child.text}]"
        if self.children:
            yield self.children[-1].path


def sort_key(step: Step) -> tuple[int, bool, str]:
    """The largest branch comes last, where it is written as the path's continuation."""
    return step.size, step.is_deep, step.text
