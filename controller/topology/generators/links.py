"""How slow generated links are and what they weigh: the same parameters for every generator that has no own model."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Annotated, Literal

from msgspec import Meta

from controller.errors import UsageError
from controller.topology.generators.base import DelayMs, Parameters, tidy
from controller.topology.model import Link

WEIGHT_LEAST = 0.001

Weights = Literal["one", "delay", "drawn"]


class LinkParameters(Parameters, frozen=True, kw_only=True, forbid_unknown_fields=True):
    delay_ms: Annotated[DelayMs, Meta(description="Delay of a link; the least one if delay-ms-max is given.")] = 0
    delay_ms_max: Annotated[
        DelayMs, Meta(description="Delays are drawn evenly from delay-ms to this; 0: every link has delay-ms.")
    ] = 0
    weights: Annotated[
        Weights, Meta(description="What a link weighs: one, its delay in ms, or drawn from 1 to weight-max.")
    ] = "one"
    weight_max: Annotated[int, Meta(ge=1, le=1_000_000, description="The greatest weight that is drawn.")] = 10


def linked(
    edges: Sequence[tuple[str, str]],
    parameters: LinkParameters,
    generator: str,
    further_ms: Sequence[float] | None = None,
) -> tuple[Link, ...]:
    """`further_ms` is what the generator's own model adds to the delay of each link."""
    least, most = parameters.delay_ms, parameters.delay_ms_max
    if most and most < least:
        raise UsageError(f"delay_ms_max is {most}, less than delay_ms, {least}; give the greater one, or none")
    # A stream of its own: other delays leave the shape as it was.
    random = Random(f"{parameters.seed}/{generator}/links")
    made = []
    for index, (a, b) in enumerate(edges):
        drawn_ms = random.uniform(least, most) if most else least
        weight_drawn = random.randint(1, parameters.weight_max)
        delay_ms = tidy(round(drawn_ms + (further_ms[index] if further_ms else 0), 3))
        made.append(Link(a, b, delay_ms, _weight(parameters.weights, delay_ms, weight_drawn)))
    return tuple(made)


def _weight(weights: Weights, delay_ms: int | float, drawn: int) -> int | float:
    if weights == "delay":
        return max(delay_ms, WEIGHT_LEAST)
    return drawn if weights == "drawn" else 1
