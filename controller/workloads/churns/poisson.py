"""Now one, now another changes their mind, or leaves for a while."""

from __future__ import annotations

from functools import partial
from random import Random
from typing import Annotated

from msgspec import Meta

from controller.workloads.scene import Millis, Model, Often, Scene, Share


class Poisson(Model, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="poisson"):
    """Independent changes at random times: a subscription is cancelled, another is made, or a client leaves and comes
    back with other wishes; the population keeps its size.
    """

    hz: Annotated[Often, Meta(description="How many changes there are in a second, on average.")] = 5
    leaves: Annotated[Share, Meta(description="The share of them in which a client leaves.")] = 0.1
    away_ms: Annotated[Millis, Meta(description="How long a client stays away at least.")] = 300
    away_ms_max: Annotated[Millis, Meta(description="And at most.")] = 1500

    def schedule(self, scene: Scene, random: Random) -> None:
        size = max(1, len(scene.population.held))
        at_ms = random.expovariate(self.hz) * 1000
        while at_ms < scene.agenda.end_ms:
            scene.agenda.at(at_ms, partial(self._change, scene, random, size))
            at_ms += random.expovariate(self.hz) * 1000

    def _change(self, scene: Scene, random: Random, size: int, at_ms: int) -> None:
        population = scene.population
        if not len(population.here):
            return
        if random.random() < self.leaves:
            leaver = population.here.choice(random)
            if population.may_leave(leaver):
                self._leave(scene, random, leaver, at_ms)
                return
        # Towards the size it began with: more are cancelled when there are more.
        if len(population.held) and random.random() < len(population.held) / (2 * size):
            population.cancel(population.held.choice(random), at_ms)
        else:
            population.subscribe(population.here.choice(random), at_ms)

    def _leave(self, scene: Scene, random: Random, client: str, at_ms: int) -> None:
        held = scene.population.leave(client, at_ms)
        away_ms = random.uniform(self.away_ms, max(self.away_ms, self.away_ms_max))
        scene.agenda.at(at_ms + max(1, away_ms), partial(scene.population.come_back, client, held))
