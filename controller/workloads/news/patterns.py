"""Tree patterns for a DTD, after the generator of Chan, Felber, Garofalakis and Rastogi that XROUTE's authors used.

A pattern is a walk through the DTD from its root, so documents of the DTD can match it. The paper names the
parameters but not the procedure; these are our choices:

* The walk is of a height drawn evenly from `h_min` to `h`, and ends sooner at an element that has no children. (Were
  every walk as long as it can be, hardly any pattern would cover another.)
* Each node of it is `//` with probability `p_descendant`, `*` with `p_star`, else the element's name. `//` is a node
  of its own, as in the authors' tree patterns: it hides one element of the walk and has exactly one child, a name or
  `*`. So `//` uses up a level of the height, stands neither last nor twice in a row.
* A node has more than one child with probability `p_lambda`: then a second one, and each further one again with that
  probability. Siblings are different elements, each with a height of its own, evenly from 1 to what is left.
* Children are chosen by Zipf's law with exponent `theta` over the order in which the DTD lists them.
* A pattern without a single name (`//*`) is thrown away: nobody asks for that, and it would cover all others.
* With probability `p_attribute` a name also asks for one of its element's attributes.

A pattern with several children at a node is written with the greatest of them (as text) as the next step and the
others, in order, as predicates: equal trees have equal texts. `unique` sets hold no text twice; two texts may still
mean the same, as `/a/b` and `/a[*]/b` do.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterator
from itertools import accumulate, islice
from random import Random
from typing import Annotated

from msgspec import Meta, Struct

from controller.errors import UsageError
from controller.workloads.news.dtd import Dtd

Probability = Annotated[int, Meta(ge=0, le=1)] | Annotated[float, Meta(ge=0, le=1)]
Skew = Annotated[int, Meta(ge=0, le=10)] | Annotated[float, Meta(ge=0, le=10)]
Height = Annotated[int, Meta(ge=1, le=30)]

_NAME = re.compile("[a-z]")

FRUITLESS_MAX = 20_000
"""So many walks in a row without a new pattern: there are hardly any more."""


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The defaults are the paper's, where it gives them."""

    h: Height = 10
    h_min: Height = 2
    """Short patterns cover many others: the higher this is, the fewer are covered."""
    p_star: Probability = 0.1
    p_descendant: Probability = 0.1
    p_lambda: Probability = 0.1
    theta: Skew = 1
    p_attribute: Probability = 0


def patterns(dtd: Dtd, settings: Settings, count: int, unique: bool, random: Random) -> list[str]:
    """So many pattern texts; `unique`: no text twice."""
    made = generate(dtd, settings, random)
    return list(islice(_distinct(made) if unique else made, count))


def generate(dtd: Dtd, settings: Settings, random: Random) -> Iterator[str]:
    """Patterns without end."""
    if settings.h_min > settings.h:
        raise UsageError(f"h_min is {settings.h_min}, more than h = {settings.h}; lower it")
    walk = _Walk(dtd, settings, random)
    while True:
        text = walk.pattern()
        if _NAME.search(text):
            yield text


def _distinct(made: Iterator[str]) -> Iterator[str]:
    seen: set[str] = set()
    fruitless = 0
    for text in made:
        if text not in seen:
            seen.add(text)
            fruitless = 0
            yield text
        elif (fruitless := fruitless + 1) > FRUITLESS_MAX:
            raise UsageError(f"hardly more than {len(seen)} different patterns with these settings; ask for fewer")


class _Walk:
    def __init__(self, dtd: Dtd, settings: Settings, random: Random) -> None:
        self._dtd = dtd
        self._settings = settings
        self._random = random
        self._ranks = {name: _zipf(len(one.children), settings.theta) for name, one in dtd.elements.items()}

    def pattern(self) -> str:
        height = self._random.randint(self._settings.h_min, self._settings.h)
        return self._node(self._dtd.root, height, after_descendant=False)

    def _node(self, name: str, height: int, after_descendant: bool) -> str:
        """The subtree at an element, axis first; `height` counts this node."""
        children = self._dtd.elements[name].children if height > 1 else ()
        kind = self._random.random()
        settings = self._settings
        if children and not after_descendant and kind < settings.p_descendant:
            return "/" + self._node(self._child(name), height - 1, after_descendant=True)
        starred = settings.p_descendant <= kind < settings.p_descendant + settings.p_star
        step = "/*" if starred else f"/{name}{self._attribute(name)}"
        if not children:
            return step
        *others, last = sorted(self._subtrees(name, height - 1))
        return step + "".join(f"[{_relative(one)}]" for one in others) + last

    def _subtrees(self, name: str, height: int) -> set[str]:
        made = {self._node(first := self._child(name), height, after_descendant=False)}
        known = {first}
        while len(known) < len(self._dtd.elements[name].children) and self._random.random() < self._settings.p_lambda:
            child = self._child(name)
            while child in known:
                child = self._child(name)
            known.add(child)
            made.add(self._node(child, self._random.randint(1, height), after_descendant=False))
        return made

    def _child(self, name: str) -> str:
        ranks = self._ranks[name]
        place = bisect(ranks, self._random.random() * ranks[-1], hi=len(ranks) - 1)
        return self._dtd.elements[name].children[place]

    def _attribute(self, name: str) -> str:
        attributes = self._dtd.elements[name].attributes
        if not attributes or self._random.random() >= self._settings.p_attribute:
            return ""
        chosen = self._random.choice(attributes)
        if not chosen.values or self._random.random() < 1 / 2:
            return f"[@{chosen.name}]"
        return f'[@{chosen.name}="{self._random.choice(chosen.values)}"]'


def _zipf(count: int, theta: float) -> list[float]:
    return list(accumulate(1 / rank**theta for rank in range(1, count + 1)))


def _relative(subtree: str) -> str:
    return f".{subtree}" if subtree.startswith("//") else subtree[1:]
