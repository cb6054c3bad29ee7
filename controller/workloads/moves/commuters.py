"""Clients who go to work and come home again."""

from __future__ import annotations

from functools import partial
from random import Random
from typing import Annotated

from msgspec import Meta

from controller.errors import UsageError
from controller.workloads.scene import LINGER_MS, Many, Millis, Model, Period, Scene, Seconds, Share, movers, turns


class Commuters(Model, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="commuters"):
    """Movers go from their broker to one of a few where everybody works, and back again, day by day: two rush hours."""

    share: Annotated[Share, Meta(description="The share of clients who move; publishers never do.")] = 0.2
    at_s: Annotated[Seconds, Meta(description="When the first rush hour begins.")] = 1
    day_s: Annotated[Period, Meta(description="From one morning to the next; half of it is spent at work.")] = 10
    rush_s: Annotated[Seconds, Meta(description="How long a rush hour takes.")] = 1
    workplaces: Annotated[Many, Meta(description="How many brokers people work at, if there are as many.")] = 2
    linger_ms: Annotated[
        Millis, Meta(description="How long one still listens at the old broker after it has settled at the new one.")
    ] = LINGER_MS

    def check(self, load_s: float, roots: int) -> None:
        super().check(load_s, roots)
        least_s = 2 * (self.linger_ms / 1000 + self.rush_s)
        if self.day_s <= least_s:
            told = f"day_s is {self.day_s:g}, but half of it must be more than rush_s and linger_ms together"
            raise UsageError(f"commuters: {told}; give more than {least_s:g}")

    def schedule(self, scene: Scene, random: Random) -> None:
        going = movers(scene, self.share, random)
        places = scene.seating.places
        at_work = random.sample(places, min(self.workplaces, len(places)))
        for mover in going:
            home = scene.population.broker_of[mover]
            elsewhere = [place for place in at_work if place != home] or [one for one in places if one != home]
            work = random.choice(elsewhere)
            for begins_ms in turns(self.at_s, self.day_s / 2, scene.agenda.end_ms):
                leaves_ms = begins_ms + random.uniform(0, self.rush_s * 1000)
                if leaves_ms < scene.agenda.end_ms:
                    scene.agenda.at(leaves_ms, partial(self._go, scene, mover, {home: work, work: home}))

    def _go(self, scene: Scene, mover: str, other_end: dict[str, str], at_ms: int) -> None:
        population = scene.population
        broker = population.broker_of[mover]
        # Another movement may have taken it somewhere else: then home, wherever that was, is out of reach.
        if mover in population.here and broker in other_end:
            population.move(mover, other_end[broker], at_ms, self.linger_ms)
