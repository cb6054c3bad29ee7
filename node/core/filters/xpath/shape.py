"""A pattern laid out flat: for each step, in numbers and bit sets, what laying one pattern onto another asks for.

Steps are numbered with children before parents, so the first is a leaf and the last is the top.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple
from zlib import crc32

from node.core.filters.xpath.pattern import Step, Tests
from node.core.filters.xpath.syntax import ANY

_SIGNATURE_BITS = 256
_HEIGHT_BITS = 16


class Row(NamedTuple):
    """A step as the side that is laid onto something."""

    name: str
    tests: Tests | None
    near: tuple[int, ...]
    deep: tuple[int, ...]


class Shape:
    """`near[n]` is the set of the children of step n, `below[n]` that of all below it; bit m stands for step m."""

    __slots__ = ("below", "named", "near", "rows", "steps", "top")

    def __init__(self, top: Step) -> None:
        self.steps: list[Step] = list(top.steps())[::-1]
        number = {id(step): at for at, step in enumerate(self.steps)}
        rows: list[Row] = []
        near_sets: list[int] = []
        below_sets: list[int] = []
        named: dict[str, list[int]] = {}
        for at, step in enumerate(self.steps):
            near = tuple(number[id(child)] for child in step.children if not child.is_deep)
            deep = tuple(number[id(child)] for child in step.children if child.is_deep)
            rows.append(Row(step.name, step.tests, near, deep))
            near_sets.append(sum(1 << child for child in near))
            below = near_sets[at]
            for child in near:
                below |= below_sets[child]
            for child in deep:
                below |= below_sets[child] | 1 << child
            below_sets.append(below)
            if step.name != ANY:
                named.setdefault(step.name, []).append(at)
        self.rows = tuple(rows)
        self.near = tuple(near_sets)
        self.below = tuple(below_sets)
        # Where a step of this name can lie; `*` lies anywhere.
        self.named: dict[str, tuple[int, ...] | range] = {name: tuple(places) for name, places in named.items()}
        self.named[ANY] = range(len(rows))
        self.top = 0 if top.is_deep else 1 << len(rows) - 1


def places(upper: Shape, lower: Shape) -> list[int] | None:
    """For each step of `upper` the set of steps of `lower` onto which it can be laid with all that is below it.

    Names, tests and the axis `/` must be there as they are, `//` may become any way down. None as soon as there is a
    step that fits nowhere. It costs no more than the product of the sizes, times the branches of a step.
    """
    found: list[int] = []
    near_of, below_of, named, rows = lower.near, lower.below, lower.named, lower.rows
    for name, tests, near, deep in upper.rows:
        fits = 0
        for at in named.get(name, ()):
            for child in near:
                if not found[child] & near_of[at]:
                    break
            else:
                for child in deep:
                    if not found[child] & below_of[at]:
                        break
                else:
                    if tests is None or _implies(rows[at].tests, tests):
                        fits |= 1 << at
        if not fits:
            return None
        found.append(fits)
    return found


def embeds(upper: Shape, lower: Shape) -> bool:
    """Whether `upper` can be laid onto `lower`: then every document that holds `lower` holds `upper`."""
    found = places(upper, lower)
    return found is not None and (not upper.top or bool(found[-1] & lower.top))


def signature(top: Step) -> int:
    """A bit set with these two properties: if p can be laid onto q, each bit of p is in q; if not, one mostly is not.

    Bits stand for names, tests, pairs of names one (directly) above the other, and the height.
    """
    bits = 0 if top.is_deep or top.name == ANY else _bit(f"/{top.name}")
    above: list[tuple[Step, tuple[str, ...]]] = [(top, ())]
    height = 0
    while above:
        step, names = above.pop()
        height = max(height, len(names))
        if step.name != ANY:
            bits |= _bit(step.name)
            for name in names:
                if name != ANY:
                    bits |= _bit(f"{name}//{step.name}")
            if names and names[-1] != ANY and not step.is_deep:
                bits |= _bit(f"{names[-1]}/{step.name}")
        for name, value in step.attributes:
            bits |= _bit(f"@{name}")
            if value is not None:
                bits |= _bit(f"@{name}={value}")
        if step.value is not None:
            bits |= _bit(f".={step.value}")
        names = (*names, step.name)
        above.extend((child, names) for child in step.children)
    return bits << _HEIGHT_BITS | (1 << min(height, _HEIGHT_BITS)) - 1


@lru_cache(maxsize=1 << 14)
def _bit(feature: str) -> int:
    return 1 << crc32(feature.encode()) % _SIGNATURE_BITS


def _implies(given: Tests | None, asked: Tests) -> bool:
    if given is None or (asked[1] is not None and asked[1] != given[1]):
        return False
    values = dict(given[0])
    return all(name in values and value in (None, values[name]) for name, value in asked[0])
