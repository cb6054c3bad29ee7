"""Clients who wander about."""

from __future__ import annotations

from functools import partial
from random import Random
from typing import Annotated

from msgspec import Meta

from controller.workloads.scene import LINGER_MS, Millis, Model, Period, Scene, Share, movers


class RandomWalk(Model, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="random-walk"):
    """Each mover stays for a while, then goes on to a broker near by, wandering along the links."""

    share: Annotated[Share, Meta(description="The share of clients who move; publishers never do.")] = 0.2
    stays_s: Annotated[Period, Meta(description="How long one stays at a broker, on average.")] = 4
    linger_ms: Annotated[
        Millis, Meta(description="How long one still listens at the old broker after it has settled at the new one.")
    ] = LINGER_MS

    def schedule(self, scene: Scene, random: Random) -> None:
        for mover in movers(scene, self.share, random):
            scene.agenda.at(self._stay_ms(random), partial(self._go_on, scene, random, mover))

    def _go_on(self, scene: Scene, random: Random, mover: str, at_ms: int) -> None:
        if at_ms >= scene.agenda.end_ms:
            return
        population = scene.population
        if mover in population.here:
            broker = scene.seating.step(population.broker_of[mover], random)
            population.move(mover, broker, at_ms, self.linger_ms)
        scene.agenda.at(at_ms + self.linger_ms + self._stay_ms(random), partial(self._go_on, scene, random, mover))

    def _stay_ms(self, random: Random) -> float:
        return max(1.0, random.expovariate(1 / self.stays_s) * 1000)
