"""Many change their minds at once."""

from __future__ import annotations

from functools import partial
from random import Random
from typing import Annotated

from msgspec import Meta

from controller.workloads.scene import Many, Millis, Model, Period, Scene, Seconds, turns


class Bursts(Model, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="bursts"):
    """From time to time so many subscriptions are exchanged for others at once."""

    every_s: Annotated[Period, Meta(description="From the beginning of one burst to that of the next.")] = 4
    at_s: Annotated[Seconds, Meta(description="When the first one begins.")] = 1
    subscriptions: Annotated[Many, Meta(description="How many are exchanged in one burst, each for a new one.")] = 40
    within_ms: Annotated[Millis, Meta(description="How long a burst takes.")] = 200

    def schedule(self, scene: Scene, random: Random) -> None:
        for begins_ms in turns(self.at_s, self.every_s, scene.agenda.end_ms):
            for _ in range(self.subscriptions):
                scene.agenda.at(begins_ms + random.uniform(0, self.within_ms), partial(self._exchange, scene, random))

    def _exchange(self, scene: Scene, random: Random, at_ms: int) -> None:
        population = scene.population
        if len(population.here):
            population.subscribe(population.here.choice(random), at_ms)
        if len(population.held):
            population.cancel(population.held.choice(random), at_ms)
