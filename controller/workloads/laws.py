"""How often each of so many things is chosen: all alike, or some much more often than others."""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect
from itertools import accumulate
from math import ceil
from random import Random
from statistics import NormalDist
from typing import Annotated, Literal

from msgspec import Meta, Struct

from controller.errors import UsageError

ZIPF_MAX = 200_000
"""Its shares have no closed form: there is a table of them."""
TRIES = 20

Skew = Annotated[int, Meta(ge=0, le=10)] | Annotated[float, Meta(ge=0, le=10)]
Tail = Annotated[int, Meta(gt=0, le=20)] | Annotated[float, Meta(gt=0, le=20)]
Deviation = Annotated[int, Meta(gt=0, le=10)] | Annotated[float, Meta(gt=0, le=10)]


class Spread(ABC):
    """A law for the whole numbers below `count`; of things in a list they are the places."""

    def __init__(self, count: int) -> None:
        self.count = count

    def draw(self, random: Random) -> int:
        return min(self.count - 1, max(0, self._at(random.random())))

    def share(self, low: float, high: float) -> float:
        """How likely a draw is at least `low` and less than `high`."""
        first, last = (min(self.count, max(0, ceil(end))) for end in (low, high))
        return max(0.0, self._below(last) - self._below(first))

    @abstractmethod
    def _at(self, part: float) -> int:
        """The number below which about this part of all draws lies."""

    @abstractmethod
    def _below(self, number: int) -> float:
        """How likely a draw is less."""


class _Even(Spread):
    def _at(self, part: float) -> int:
        return int(part * self.count)

    def _below(self, number: int) -> float:
        return number / self.count


class _Ranked(Spread):
    def __init__(self, count: int, theta: float) -> None:
        super().__init__(count)
        if count > ZIPF_MAX:
            raise UsageError(f"zipf is for {ZIPF_MAX} numbers at most, not {count}; use pareto, or fewer numbers")
        self._upto = [0.0, *accumulate(1 / rank**theta for rank in range(1, count + 1))]

    def _at(self, part: float) -> int:
        return bisect(self._upto, part * self._upto[-1]) - 1

    def _below(self, number: int) -> float:
        return self._upto[number] / self._upto[-1]


class _Tailed(Spread):
    """Pareto's density, cut off at its end."""

    def __init__(self, count: int, alpha: float) -> None:
        super().__init__(count)
        self._alpha = alpha
        self._whole = 1 - (count + 1) ** -alpha

    def _at(self, part: float) -> int:
        return int((1 - part * self._whole) ** (-1 / self._alpha)) - 1

    def _below(self, number: int) -> float:
        return (1 - float((number + 1) ** -self._alpha)) / self._whole


class _Bell(Spread):
    """Around the middle, cut off at both ends."""

    def __init__(self, count: int, deviation: float) -> None:
        super().__init__(count)
        self._bell = NormalDist(count / 2, deviation * count)
        self._outside = self._bell.cdf(0)
        self._whole = 1 - 2 * self._outside

    def _at(self, part: float) -> int:
        inside = self._outside + part * self._whole
        return int(self._bell.inv_cdf(inside)) if 0 < inside < 1 else 0

    def _below(self, number: int) -> float:
        return (self._bell.cdf(number) - self._outside) / self._whole


class Uniform(Struct, frozen=True, forbid_unknown_fields=True, tag_field="law", tag="uniform"):
    """All alike."""

    def over(self, count: int) -> Spread:
        return _Even(count)


class Zipf(Struct, frozen=True, forbid_unknown_fields=True, tag_field="law", tag="zipf"):
    """The first twice as often as the second, three times as often as the third, and so on."""

    theta: Annotated[Skew, Meta(description="The n-th is chosen n^theta times less often than the first.")] = 1

    def over(self, count: int) -> Spread:
        return _Ranked(count, self.theta)


class Pareto(Struct, frozen=True, forbid_unknown_fields=True, tag_field="law", tag="pareto"):
    """A few low ones nearly always, with a long tail."""

    alpha: Annotated[Tail, Meta(description="The smaller, the longer the tail; 1.16 is `80 to 20`.")] = 1.16

    def over(self, count: int) -> Spread:
        return _Tailed(count, self.alpha)


class Gaussian(Struct, frozen=True, forbid_unknown_fields=True, tag_field="law", tag="gaussian"):
    """Those in the middle most often."""

    deviation: Annotated[Deviation, Meta(description="The standard deviation as a share of the whole range.")] = 0.15

    def over(self, count: int) -> Spread:
        return _Bell(count, self.deviation)


Law = Literal["uniform", "zipf", "pareto", "gaussian"] | Uniform | Zipf | Pareto | Gaussian
"""By its name, or with its parameters: `{law: zipf, theta: 1.5}`."""

_BY_NAME: dict[str, Uniform | Zipf | Pareto | Gaussian] = {
    "uniform": Uniform(),
    "zipf": Zipf(),
    "pareto": Pareto(),
    "gaussian": Gaussian(),
}


def spread(law: Law, count: int) -> Spread:
    chosen = _BY_NAME[law] if isinstance(law, str) else law
    return chosen.over(count)


def distinct(over: Spread, wanted: int, random: Random) -> list[int]:
    """So many different numbers in the order they came; what a steep law hardly ever gives is filled up from below."""
    found: dict[int, None] = {}
    for _ in range(TRIES * wanted):
        if len(found) == wanted:
            break
        found[over.draw(random)] = None
    rest = (number for number in range(over.count) if number not in found)
    while len(found) < min(wanted, over.count):
        found[next(rest)] = None
    return list(found)
