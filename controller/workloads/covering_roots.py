"""The workload `covering-roots`: groups of filters of which one, the root, covers all the others (after CONGESTION).

A group is a root and its dependents, which have all the same width and begin at distinct places, so none of them
covers another: as long as the root is there it stands for all of them, and once it is cancelled each has to be told.
The root comes when a share of its dependents has been told already. Width steers how alike they are to it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import chain
from random import Random
from typing import Annotated, Literal

from msgspec import Meta

from controller.errors import UsageError
from controller.workloads.base import Kind
from controller.workloads.load import Load, World
from controller.workloads.plans import Content

SPAN = 1_000_000
"""What a root asks for: x from 0 to this."""

Share = Annotated[int, Meta(ge=0, le=1)] | Annotated[float, Meta(ge=0, le=1)]
Width = Annotated[int, Meta(gt=0, lt=1)] | Annotated[float, Meta(gt=0, lt=1)]


class CoveringRoots(Load, frozen=True, kw_only=True, forbid_unknown_fields=True):
    kind: Literal["covering-roots"] = "covering-roots"
    groups: Annotated[int, Meta(ge=1, le=10_000, description="How many roots there are.")] = 38
    width: Annotated[Width, Meta(description="How wide a dependent is, as a share of its root.")] = 0.2
    root_after: Annotated[
        Share, Meta(description="The share of its dependents that a root lets go before it is asked for.")
    ] = 0.4

    def check(self, load_s: float) -> None:
        super().check(load_s)
        if self.subscriptions < 2 * self.groups:
            told = f"{self.subscriptions} subscriptions are too few for {self.groups} groups"
            raise UsageError(f"{told}; give {2 * self.groups} or more, a root and a dependent for each")

    @property
    def root_count(self) -> int:
        return self.groups


class Teller:
    """Speaks about every group, evenly, and says so."""

    def __init__(self, client: str, groups: int, random: Random) -> None:
        self.client = client
        self.advertised: tuple[str, ...] = ("x >= 0",)
        self._groups = groups
        self._random = random

    def content(self) -> Content:
        return {"group": f"g{self._random.randint(1, self._groups)}", "x": self._random.randrange(SPAN)}


class Listeners:
    def __init__(self, drawn: Iterator[str]) -> None:
        self._drawn = drawn

    def draw(self) -> str:
        return next(self._drawn)


def root(group: int) -> str:
    return _filter(group, 0, SPAN)


def _filter(group: int, low: int, high: int) -> str:
    return f'group = "g{group}" and x >= {low} and x < {high}'


def recipe(parameters: CoveringRoots, random: Random) -> Iterator[str]:
    """As many filters as there are subscriptions, groups mixed."""
    order = [1 + number % parameters.groups for number in range(parameters.subscriptions)]
    random.shuffle(order)
    sizes = sorted(Counter(order).items())
    waiting = {group: iter(_group(parameters, group, size, random)) for group, size in sizes}
    return (next(waiting[group]) for group in order)


def _group(parameters: CoveringRoots, group: int, size: int, random: Random) -> list[str]:
    width = round(parameters.width * SPAN)
    many = size - 1
    dependents = [
        _filter(group, low, low + width) for low in (number * (SPAN - width) // many for number in range(many))
    ]
    random.shuffle(dependents)
    told = round(parameters.root_after * many)
    return [*dependents[:told], root(group), *dependents[told:]]


def further(parameters: CoveringRoots, random: Random) -> Iterator[str]:
    """More dependents, anywhere."""
    width = round(parameters.width * SPAN)
    while True:
        low = random.randrange(SPAN - width)
        yield _filter(random.randint(1, parameters.groups), low, low + width)


class CoveringRootsKind(Kind):
    name = "covering-roots"
    summary = "groups of filters of which one covers all the others, to be cancelled by the churn `roots`"
    Parameters = CoveringRoots

    def world(self, parameters: CoveringRoots, random: Random) -> World:
        def publisher(_number: int, client: str, random: Random) -> Teller:
            return Teller(client, parameters.groups, random)

        def interests(random: Random) -> Listeners:
            return Listeners(chain(recipe(parameters, random), further(parameters, random)))

        def fresh(random: Random) -> Listeners:
            return Listeners(further(parameters, random))

        roots = frozenset(root(group) for group in range(1, parameters.groups + 1))
        return World("attr", publisher, interests, fresh, roots)
