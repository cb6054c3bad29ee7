"""Many patterns as one automaton that reads a document from the leaves to the root.

Each step of each pattern has a slot. A state is what is known of an element: the steps that it can be, with all that is
below them, and the steps that something in it can be. It follows from the element's name, the tests that it passes and
the states of its children, and is worked out once for all elements that have these in common: the automaton is made as
far as documents ask for it.

The steps below a step have the slots after its own, so what parents lack is told to all of them at once: by one shift
for each distance that occurs between a step and one of its children.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from operator import itemgetter

from node.core.filters.xpath.document import Document
from node.core.filters.xpath.filter import XPathFilter
from node.core.filters.xpath.pattern import Step
from node.core.matching import Holder
from node.core.matching.bits import bits_of, pick, without
from node.core.matching.layers import Items, Part
from node.core.matching.names import Names

# What is remembered may take so much room; then it is forgotten after the document.
KEPT_BYTES_MAX = 32 << 20
# So many different children become one, so that many do not take more room than few.
CHILDREN_MAX = 32
_BYTES_PER_CHILD = 64
_BYTES_PER_SITUATION = 512


class State:
    """Told apart by being another object."""

    __slots__ = ("here", "inside")

    def __init__(self, here: int, inside: int) -> None:
        self.here = here
        """The steps that the element can be."""
        self.inside = inside
        """The steps that the element or one in it can be."""


# A name (None: one that no step has), the tests that are passed, the states of the children.
_Situation = tuple[str | None, int, frozenset[State]]


_NOBODY: frozenset[State] = frozenset()


class Forest(Part[Document, Holder]):
    """Towards the outside a pattern has one slot, which is its number in the order in which the patterns came."""

    def __init__(self, filters: Items[Holder]) -> None:
        super().__init__(
            {filter: number for number, (filter, _) in enumerate(filters)}, [holder for _, holder in filters]
        )
        self._names = Names()
        self._number: list[int] = []
        """Of the pattern to which a step belongs."""
        tops: dict[bool, list[int]] = {False: [], True: []}
        children: dict[bool, list[int]] = {False: [], True: []}
        distances: dict[int, list[int]] = {}
        # Patterns with wide steps come first: then the sets of great distances are short integers, which cost little.
        for _, number, pattern in sorted(_with_reach(filters), key=itemgetter(0), reverse=True):
            tops[pattern.is_deep].append(len(self._number))
            waiting: list[tuple[Step, int]] = [(pattern, -1)]
            while waiting:
                step, parent = waiting.pop()
                slot = len(self._number)
                self._number.append(number)
                self._names.add(slot, step)
                if parent >= 0:
                    children[step.is_deep].append(slot)
                    distances.setdefault(slot - parent, []).append(slot)
                # The smallest first: it keeps its siblings near to their parent.
                waiting.extend((child, slot) for child in reversed(step.children))
        self._names.close(len(self._number))
        self._near_tops, self._deep_tops = bits_of(tops[False]), bits_of(tops[True])
        self._near, self._deep = bits_of(children[False]), bits_of(children[True])
        self._children = self._near | self._deep
        self._distances = [(distance, bits_of(own)) for distance, own in sorted(distances.items(), reverse=True)]
        self._parents = self._above(self._children)
        self._live = (1 << self.width) - 1
        self._state_bytes = _BYTES_PER_SITUATION + len(self._number) // 4
        self._known: dict[_Situation, State] = {}
        self._room = KEPT_BYTES_MAX

    def bury(self, slot: int) -> None:
        self._live = without(self._live, 1 << slot)

    def hits(self, query: Document) -> int:
        if self._room <= 0:
            self._known.clear()
            self._room = KEPT_BYTES_MAX
        root = self._read(query)
        held = root.here & self._near_tops | root.inside & self._deep_tops
        return bits_of(pick(held, self._number)) & self._live

    def _read(self, document: Document) -> State:
        """The state of the root."""
        names, parents, known = document.names, document.parents, self._known
        asked = self._names
        have_tests = asked.have_tests
        below: dict[int, set[State]] = {}
        state: State | None = None
        # Backwards, so that children come before their parents.
        for element in range(len(names) - 1, -1, -1):
            children = below.pop(element, None)
            situation = (
                names[element] if names[element] in asked else None,
                asked.passed(document, element) if have_tests else 0,
                _NOBODY if children is None else frozenset(children),
            )
            state = known.get(situation)
            if state is None:
                state = self._work_out(situation)
            parent = parents[element]
            beside = below.get(parent)
            if beside is None:
                below[parent] = {state}
            else:
                beside.add(state)
                if len(beside) > CHILDREN_MAX:
                    below[parent] = {_together(beside)}
        assert state is not None
        return state

    def _work_out(self, situation: _Situation) -> State:
        name, passed, children = situation
        candidates = self._names.candidates(name, passed)
        if children:
            below = _together(children)
            there = below.here & self._near | below.inside & self._deep
            here = without(candidates, self._above(self._children ^ there))
            state = State(here, here | below.inside)
        else:
            here = without(candidates, self._parents)
            state = State(here, here)
        if self._room > 0:
            self._room -= self._state_bytes + _BYTES_PER_CHILD * len(children)
            self._known[situation] = state
        return state

    def _above(self, steps: int) -> int:
        """The parents of these steps."""
        parents = 0
        for distance, own in self._distances:
            parents |= (steps & own) >> distance
        return parents


def _together(states: Iterable[State]) -> State:
    """What is known of several elements."""
    here = inside = 0
    for state in states:
        here |= state.here
        inside |= state.inside
    return State(here, inside)


def _with_reach(filters: Items[Holder]) -> Iterator[tuple[int, int, Step]]:
    """For each pattern that can match: how far a child is from its parent at most, its number, and itself."""
    for number, (filter, _) in enumerate(filters):
        assert isinstance(filter, XPathFilter)
        if filter.pattern is not None:
            reach = max(1 + sum(child.size for child in step.children[:-1]) for step in filter.pattern.steps())
            yield reach, number, filter.pattern
