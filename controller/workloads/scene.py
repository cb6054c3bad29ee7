"""What churn and movement act on, and what a model of either is: parameters that note down who does what when."""

from __future__ import annotations

from random import Random
from typing import Annotated, NamedTuple

from msgspec import Meta, Struct

from controller.errors import UsageError
from controller.workloads.agenda import Agenda
from controller.workloads.population import Interests, Population
from controller.workloads.seating import Seating

Seconds = Annotated[int, Meta(ge=0, le=86_400)] | Annotated[float, Meta(ge=0, le=86_400)]
Period = Annotated[int, Meta(gt=0, le=86_400)] | Annotated[float, Meta(gt=0, le=86_400)]
Often = Annotated[int, Meta(gt=0, le=10_000)] | Annotated[float, Meta(gt=0, le=10_000)]
Share = Annotated[int, Meta(ge=0, le=1)] | Annotated[float, Meta(ge=0, le=1)]
Many = Annotated[int, Meta(ge=1, le=1_000_000)]
Millis = Annotated[int, Meta(ge=0, le=3_600_000)] | Annotated[float, Meta(ge=0, le=3_600_000)]

LINGER_MS = 2500
"""Longer than what is rightfully under way takes, so that the audit holds the old broker to it until the end."""


class Scene(NamedTuple):
    agenda: Agenda
    population: Population
    seating: Seating
    fresh: Interests
    """Filters that nobody has asked for yet."""
    roots: frozenset[str]
    """Filters that cover many others, where the workload has such."""


class Model(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind"):
    @classmethod
    def name(cls) -> str:
        return str(cls.__struct_config__.tag)

    @classmethod
    def summary(cls) -> str:
        return " ".join((cls.__doc__ or "").split())

    def check(self, load_s: float, roots: int) -> None:
        """Raises UsageError for what would never happen; `roots` is how many filters cover others on purpose."""
        at_s = getattr(self, "at_s", None) or 0
        if at_s >= load_s:
            raise UsageError(f"{self.name()}: at_s is {at_s:g}, but load ends after {load_s:g} s; begin earlier")

    def schedule(self, scene: Scene, random: Random) -> None:
        raise NotImplementedError


def movers(scene: Scene, share: float, random: Random) -> list[str]:
    if len(scene.seating.places) < 2:
        raise UsageError("clients cannot move in an overlay of one broker; leave `moves` out, or choose a larger one")
    candidates = scene.population.mobile
    return random.sample(candidates, round(share * len(candidates)))


def turns(at_s: float, every_s: float | None, end_ms: float) -> list[float]:
    """The times in ms of what comes at `at_s`, and if `every_s` is said again and again."""
    if every_s is None:
        return [at_s * 1000]
    many = max(0, int((end_ms / 1000 - at_s) / every_s) + 1)
    return [at_ms for turn in range(many) if (at_ms := (at_s + turn * every_s) * 1000) < end_ms]
