"""Those whose filters cover many others leave one after the other (after CONGESTION)."""

from __future__ import annotations

from functools import partial
from random import Random
from typing import Annotated

from msgspec import Meta

from controller.errors import UsageError
from controller.workloads.scene import Many, Model, Period, Scene, Seconds


class Roots(Model, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="roots"):
    """Filters that cover many others are cancelled one after the other, so that those have to be told instead; for a
    workload that has such, as `covering-roots` does.
    """

    at_s: Annotated[Seconds, Meta(description="When the first one is cancelled.")] = 1
    every_s: Annotated[Period, Meta(description="From one to the next.")] = 0.5
    cancelled: Annotated[Many, Meta(description="How many are cancelled.")] = 20

    def check(self, load_s: float, roots: int) -> None:
        super().check(load_s, roots)
        if roots < self.cancelled:
            told = f"churn `roots` is to cancel {self.cancelled}, but {roots} filters of the workload cover a group"
            raise UsageError(f"{told}; use the workload `covering-roots`, with as many groups")

    def schedule(self, scene: Scene, random: Random) -> None:
        roots = [sub for sub in scene.population.held if scene.population.texts[sub] in scene.roots]
        for number, sub in enumerate(random.sample(roots, self.cancelled)):
            scene.agenda.at((self.at_s + number * self.every_s) * 1000, partial(self._cancel, scene, sub))

    def _cancel(self, scene: Scene, sub: str, at_ms: int) -> None:
        if sub in scene.population.held:
            scene.population.cancel(sub, at_ms)
