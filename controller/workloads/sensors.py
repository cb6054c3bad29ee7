"""The workload `sensors`: a grid of sensors that tell what they measure, and people who watch a part of it."""

from __future__ import annotations

import math
from random import Random
from typing import Annotated, Literal, NamedTuple

from msgspec import Meta

from controller.workloads.base import Kind
from controller.workloads.load import Load, World
from controller.workloads.plans import Content

DAY = 500
"""So many readings of one gateway make a day."""

Probability = Annotated[int, Meta(ge=0, le=1)] | Annotated[float, Meta(ge=0, le=1)]


class Sensors(Load, frozen=True, kw_only=True, forbid_unknown_fields=True):
    kind: Literal["sensors"] = "sensors"
    rows: Annotated[int, Meta(ge=1, le=10_000, description="Rows of sensors.")] = 16
    columns: Annotated[int, Meta(ge=1, le=10_000, description="Columns; each gateway reads a strip of them.")] = 16
    depth: Annotated[
        int, Meta(ge=0, le=12, description="How often an area may have been halved both ways, which nests areas.")
    ] = 3
    p_limit: Annotated[Probability, Meta(description="How likely one asks for values beyond a limit only.")] = 0.5


class Quantity(NamedTuple):
    name: str
    middle: float
    by_day: float
    """How far the time of day takes it from there."""
    by_chance: float


QUANTITIES = (
    Quantity("temperature", 15, 10, 1.5),
    Quantity("humidity", 60, 20, 5),
    Quantity("noise", 50, 15, 10),
    Quantity("light", 400, 400, 60),
)


class Gateway:
    """Reads the sensors of its strip one after the other; what they measure changes with the place and the day."""

    def __init__(self, client: str, columns: range, rows: int, random: Random) -> None:
        self.client = client
        self.advertised: tuple[str, ...] = (f"x >= {columns.start} and x < {columns.stop}",)
        self._columns, self._rows = columns, rows
        self._random = random
        self._read = random.randrange(DAY)

    def content(self) -> Content:
        self._read += 1
        x, y = self._random.choice(self._columns), self._random.randrange(self._rows)
        quantity = self._random.choice(QUANTITIES)
        time = math.sin(2 * math.pi * (self._read / DAY + y / self._rows / 4))
        value = quantity.middle + quantity.by_day * time + self._random.gauss(0, quantity.by_chance)
        made: dict[str, str | int | float | bool] = {"x": x, "y": y, quantity.name: round(value, 1)}
        # Most are fine, and then say nothing about it.
        return {**made, "battery": round(self._random.uniform(2.5, 3), 2)} if self._random.random() < 0.1 else made


class Watchers:
    def __init__(self, parameters: Sensors, random: Random) -> None:
        self._parameters = parameters
        self._random = random

    def draw(self) -> str:
        if self._random.random() < 0.05:
            return f"battery < {self._random.choice((2.6, 2.8))}"
        return " and ".join([*self._area(), self._wanted()])

    def _area(self) -> list[str]:
        """One of the fields of a map that was halved so often both ways; the whole map is nothing to be said."""
        parts = 2 ** self._random.randint(0, self._parameters.depth)
        told = []
        for name, size in (("x", self._parameters.columns), ("y", self._parameters.rows)):
            place = self._random.randrange(parts)
            low, high = size * place // parts, max(size * place // parts + 1, size * (place + 1) // parts)
            told += [f"{name} >= {low}"] if low > 0 else []
            told += [f"{name} < {high}"] if high < size else []
        return told

    def _wanted(self) -> str:
        quantity = self._random.choice(QUANTITIES)
        if self._random.random() >= self._parameters.p_limit:
            return f"{quantity.name} exists"
        operator = self._random.choice((">", "<"))
        away = self._random.choice((0.25, 0.5, 0.75)) * quantity.by_day
        limit = quantity.middle + (away if operator == ">" else -away)
        return f"{quantity.name} {operator} {limit:g}"


class SensorsKind(Kind):
    name = "sensors"
    summary = "a grid of sensors; areas within areas are watched, and values beyond a limit"
    Parameters = Sensors

    def world(self, parameters: Sensors, random: Random) -> World:
        gateways = min(parameters.publisher_count, parameters.columns)

        def publisher(number: int, client: str, random: Random) -> Gateway:
            strip = number % gateways
            first, last = (parameters.columns * (strip + one) // gateways for one in (0, 1))
            return Gateway(client, range(first, last), parameters.rows, random)

        def interests(random: Random) -> Watchers:
            return Watchers(parameters, random)

        return World("attr", publisher, interests)
