"""Many ask for something, and think better of it."""

from __future__ import annotations

from functools import partial
from random import Random
from typing import Annotated

from msgspec import Meta

from controller.workloads.scene import Many, Millis, Model, Period, Scene, Seconds, turns


class Storms(Model, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="storms"):
    """From time to time so many subscriptions are made, each to be cancelled a moment later."""

    every_s: Annotated[Period, Meta(description="From the beginning of one storm to that of the next.")] = 3
    at_s: Annotated[Seconds, Meta(description="When the first one begins.")] = 1
    subscriptions: Annotated[Many, Meta(description="How many are made in one storm.")] = 50
    within_ms: Annotated[Millis, Meta(description="How long it takes until all are made.")] = 500
    hold_ms: Annotated[Millis, Meta(description="How long each of them is held; asked for back even sooner.")] = 200

    def schedule(self, scene: Scene, random: Random) -> None:
        for begins_ms in turns(self.at_s, self.every_s, scene.agenda.end_ms):
            for _ in range(self.subscriptions):
                scene.agenda.at(begins_ms + random.uniform(0, self.within_ms), partial(self._ask, scene, random))

    def _ask(self, scene: Scene, random: Random, at_ms: int) -> None:
        if len(scene.population.here):
            sub = scene.population.subscribe(scene.population.here.choice(random), at_ms)
            scene.agenda.at(at_ms + self.hold_ms, partial(self._think_better, scene, sub))

    def _think_better(self, scene: Scene, sub: str, at_ms: int) -> None:
        # Its client may have left or moved, or cancelled it already.
        if sub in scene.population.held:
            scene.population.cancel(sub, at_ms)
