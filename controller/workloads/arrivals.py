"""When publications are meant to go out, whatever the network does: the load never waits for an answer."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Literal

Arrivals = Literal["regular", "poisson"]


def regular(count: int, rate_hz: float, random: Random) -> list[float]:
    """Evenly spaced with a little jitter."""
    return [(index + random.random() / 2) * 1000 / rate_hz for index in range(count)]


def poisson(count: int, rate_hz: float, random: Random) -> list[float]:
    """Each on its own, at any time: a Poisson process of which the number is known."""
    return sorted(random.random() * count * 1000 / rate_hz for _ in range(count))


PROCESSES: dict[Arrivals, Callable[[int, float, Random], list[float]]] = {"regular": regular, "poisson": poisson}
