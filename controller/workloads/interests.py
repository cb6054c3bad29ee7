"""Filters of subscribers: fresh ones, repeated ones, and ones that an earlier one covers."""

from __future__ import annotations

from random import Random

from controller.workloads import market
from controller.workloads.market import Attribute, Choosy, Conjunction

REPEATED = 0.25
NARROWED = 0.25
DISJUNCTION = 0.08


class Interests:
    def __init__(self, known: tuple[Attribute, ...], choosy: Choosy, random: Random) -> None:
        self._known = known
        self._choosy = choosy
        self._random = random
        self._drawn: list[tuple[Conjunction, ...]] = []

    def draw(self) -> str:
        """The next subscriber's filter text."""
        kind = self._random.random()
        if self._drawn and kind < REPEATED:
            return market.text(self._random.choice(self._drawn))
        if self._drawn and kind < REPEATED + NARROWED:
            wide = self._random.choice(self._drawn)
            made = tuple(market.narrowed(one, self._known, self._random) for one in wide)
        elif kind > 1 - DISJUNCTION:
            made = (self._conjunction(), self._conjunction())
        else:
            made = (self._conjunction(),)
        self._drawn.append(made)
        return market.text(made)

    def _conjunction(self) -> Conjunction:
        return market.conjunction(self._known, self._choosy, self._random)
