"""From values to places on an axis, and the ticks people expect there."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from controller.text import NS_PER_S


class Scale(Protocol):
    def place(self, value: float) -> float:
        """0 at the lower end of the axis, 1 at the upper."""

    def ticks(self) -> list[float]: ...


@dataclass(frozen=True)
class Linear:
    low: float
    high: float
    about: int = 4

    def place(self, value: float) -> float:
        return _clamped((value - self.low) / (self.high - self.low))

    def ticks(self) -> list[float]:
        return round_steps(self.low, self.high, self.about)


@dataclass(frozen=True)
class Log:
    low: float
    high: float

    def place(self, value: float) -> float:
        if value <= self.low:
            return 0.0
        return _clamped(math.log(value / self.low) / math.log(self.high / self.low))

    def ticks(self) -> list[float]:
        decades = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        steps = (1, 2, 5) if len(decades) <= 3 else (1, 3) if len(decades) <= 4 else (1,)
        values = [step * 10.0**decade for decade in decades for step in steps]
        return [value for value in values if self.low * 0.999 <= value <= self.high * 1.001]


@dataclass(frozen=True)
class TimeAxis:
    """The run from start to end; ticks are counted in seconds from its start."""

    start_t: int
    end_t: int

    def place(self, t: float) -> float:
        return _clamped((t - self.start_t) / (self.end_t - self.start_t))

    def ticks(self) -> list[tuple[float, str]]:
        span_s = (self.end_t - self.start_t) / NS_PER_S
        unit, unit_s = ("h", 3600.0) if span_s > 4 * 3600 else ("min", 60.0) if span_s > 600 else ("s", 1.0)
        if span_s < 0.5:
            unit, unit_s = "ms", 0.001
        steps = round_steps(0, span_s / unit_s, 10)
        return [(value * unit_s / span_s, f"{value:g} {unit}") for value in steps]


def counts_scale(values: list[float], about: int = 4) -> Linear:
    """From 0 to a round number that holds all values."""
    highest = max(values, default=0)
    if highest <= 4:
        return Linear(0, max(1, math.ceil(highest)), about)
    step = _round_step(highest / about)
    return Linear(0, math.ceil(highest / step) * step, about)


def durations_scale(values: list[float]) -> Log:
    """A logarithmic axis that begins and ends at 1, 2 or 5 times a power of ten."""
    positive = [value for value in values if value > 0]
    low, high = min(positive, default=1e5), max(positive, default=1e7)
    low, high = _round_below(low), _round_above(high)
    if high / low < 5:
        low, high = _round_below(low / 2.5), _round_above(high * 1.5)
    return Log(low, high)


def round_steps(low: float, high: float, about: int) -> list[float]:
    if not high > low:
        return [low]
    step = _round_step((high - low) / about)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [index * step for index in range(first, last + 1)]


def _round_step(raw: float) -> float:
    magnitude = 10.0 ** math.floor(math.log10(raw))
    for factor in (1, 2, 5):
        if factor * magnitude >= raw * 0.999:
            return factor * magnitude
    return 10 * magnitude


def _round_below(value: float) -> float:
    magnitude = 10.0 ** math.floor(math.log10(value) + 1e-9)
    return max(factor * magnitude for factor in (1, 2, 5) if factor * magnitude <= value * 1.000001)


def _round_above(value: float) -> float:
    magnitude = 10.0 ** math.floor(math.log10(value) + 1e-9)
    return min(factor * magnitude for factor in (1, 2, 5, 10) if factor * magnitude >= value * 0.999999)


def _clamped(fraction: float) -> float:
    return min(1.0, max(0.0, fraction))
