"""What a generator of overlays is, and what several of them need."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import Annotated, Any, ClassVar

from msgspec import Meta, Struct

from controller.errors import UsageError
from controller.topology.model import Broker, Topology

BROKERS_MAX = 10_000

Count = Annotated[int, Meta(ge=0, le=BROKERS_MAX)]
Probability = Annotated[int, Meta(ge=0, le=1)] | Annotated[float, Meta(ge=0, le=1)]
DelayMs = Annotated[int, Meta(ge=0, le=60_000)] | Annotated[float, Meta(ge=0, le=60_000)]


class Parameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    seed: Annotated[int, Meta(ge=0, le=2**53, description="The same seed gives the same overlay.")] = 1


class Generator(ABC):
    name: ClassVar[str]
    summary: ClassVar[str]
    Parameters: ClassVar[type[Parameters]]

    @abstractmethod
    def make(self, parameters: Any) -> Topology: ...


def check_size(brokers: int) -> None:
    if brokers > BROKERS_MAX:
        raise UsageError(f"that would be {brokers} brokers; {BROKERS_MAX} at most")


def numbered(count: int) -> list[str]:
    return [f"b{number}" for number in range(1, count + 1)]


def by_degree(names: Sequence[str], edges: Sequence[tuple[str, str]]) -> tuple[Broker, ...]:
    """Brokers whose role says whether they stand at the rim: `leaf` or `inner`, as in a file that names no roles."""
    degree = Counter(end for edge in edges for end in edge)
    return tuple(Broker(name, "leaf" if degree[name] <= 1 else "inner", name) for name in names)


def tidy(number: float) -> int | float:
    """As a person would write it in a file."""
    return int(number) if number == int(number) else round(number, 3)


def connected(names: Sequence[str], probability: float, random: Random) -> list[tuple[str, str]]:
    """A random graph in one piece: a random tree, and each other pair with the given probability."""
    order = random.sample(names, len(names))
    edges = {frozenset((name, random.choice(order[:index]))) for index, name in enumerate(order) if index}
    pairs = [(a, b) for index, a in enumerate(names) for b in names[index + 1 :]]
    return [pair for pair in pairs if frozenset(pair) in edges or random.random() < probability]


def sizes(count: int, mean: float, random: Random) -> list[int]:
    """`count` sizes between 1 and about twice the mean, whose mean is as near to it as whole numbers can be."""
    total = max(count, round(count * mean))
    made = [random.randint(1, max(1, round(2 * mean) - 1)) for _ in range(count)]
    while sum(made) != total:
        index = random.randrange(count)
        made[index] = max(1, made[index] + (1 if sum(made) < total else -1))
    return made


def diameter(names: Sequence[str], edges: Sequence[tuple[str, str]]) -> int:
    """The longest of the shortest ways, in links."""
    beside: dict[str, list[str]] = {name: [] for name in names}
    for a, b in edges:
        beside[a].append(b)
        beside[b].append(a)
    longest = 0
    for start in names:
        hops = {start: 0}
        waiting = [start]
        for name in waiting:
            for other in beside[name]:
                if other not in hops:
                    hops[other] = hops[name] + 1
                    waiting.append(other)
        longest = max(longest, *hops.values())
    return longest
