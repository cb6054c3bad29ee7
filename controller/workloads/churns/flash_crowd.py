"""Something happens, and all at once everybody wants to know."""

from __future__ import annotations

from functools import partial
from itertools import islice
from random import Random
from typing import Annotated

from msgspec import Meta

from controller.workloads.scene import Many, Model, Period, Scene, Seconds, turns

TRIES = 10
"""Where people want much the same there may be fewer topics."""


class FlashCrowd(Model, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="flash-crowd"):
    """Clients whom nobody has seen before come all at once, want the same few things, and go again."""

    at_s: Annotated[Seconds, Meta(description="When the first of them come.")] = 3
    every_s: Annotated[Period, Meta(description="A new crowd comes that often.")] | None = None
    clients: Annotated[Many, Meta(description="How many come in a crowd.")] = 50
    topics: Annotated[Many, Meta(description="How many different filters they have; each client has one.")] = 3
    within_s: Annotated[Period, Meta(description="How long it takes until all are there.")] = 1
    for_s: Annotated[Period, Meta(description="How long each of them stays.")] = 4

    def schedule(self, scene: Scene, random: Random) -> None:
        for begins_ms in turns(self.at_s, self.every_s, scene.agenda.end_ms):
            topics = self._topics(scene)
            for _ in range(self.clients):
                comes_ms = begins_ms + random.uniform(0, self.within_s * 1000)
                scene.agenda.at(comes_ms, partial(self._come, scene, random.choice(topics)))

    def _topics(self, scene: Scene) -> list[str]:
        drawn = islice(iter(scene.fresh.draw, None), TRIES * self.topics)
        return list(islice(dict.fromkeys(drawn), self.topics))

    def _come(self, scene: Scene, topic: str, at_ms: int) -> None:
        visitor = scene.population.visit(next(scene.seating.for_others), [topic], at_ms)
        scene.agenda.at(at_ms + self.for_s * 1000, partial(scene.population.go, visitor))
