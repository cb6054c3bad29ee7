"""Filters of subscribers: fresh ones, repeated ones, and ones that an earlier one covers."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

from controller.workloads.constraints import Conjunction, Constraint, text
from controller.workloads.market import Market


class Taste(NamedTuple):
    selectivity: float
    constrained: int
    constrained_min: int | None
    repeated: float
    narrowed: float
    disjunctions: float


class Interests:
    def __init__(self, market: Market, taste: Taste, random: Random) -> None:
        self._market = market
        self._taste = taste
        self._random = random
        self._drawn: list[tuple[Conjunction, ...]] = []

    def draw(self) -> str:
        """The next subscriber's filter text."""
        kind = self._random.random()
        taste = self._taste
        if self._drawn and kind < taste.repeated:
            return text(self._random.choice(self._drawn))
        if self._drawn and kind < taste.repeated + taste.narrowed:
            wide = self._random.choice(self._drawn)
            made = tuple(self._narrower(one) for one in wide)
        elif kind > 1 - taste.disjunctions:
            made = (self._conjunction(), self._conjunction())
        else:
            made = (self._conjunction(),)
        self._drawn.append(made)
        return text(made)

    def _conjunction(self) -> Conjunction:
        """Constraints on one attribute after the other, until few enough publications are left."""
        taste, random = self._taste, self._random
        wanted = taste.constrained
        if taste.constrained_min is not None:
            wanted = random.randint(taste.constrained_min, taste.constrained)
        made: list[Constraint] = []
        share = 1.0
        for attribute in self._market.to_ask(wanted, random):
            added = attribute.constraints(random)
            made.extend(added)
            share *= min(one.share for one in added)
            if taste.constrained_min is None and share <= taste.selectivity:
                break
        return tuple(made)

    def _narrower(self, wide: Conjunction) -> Conjunction:
        """A filter that `wide` covers: the same, and one more attribute constrained if there is one left."""
        constrained = {one.name for one in wide}
        offered = self._market.to_ask(len(constrained) + 1, self._random)
        free = [attribute for attribute in offered if attribute.name not in constrained]
        return (*wide, *free[0].constraints(self._random)) if free else wide
