"""A random tree: each broker hangs on an earlier one that has room."""

from __future__ import annotations

from random import Random
from typing import Annotated

from msgspec import Meta

from controller.topology.generators.base import BROKERS_MAX, DelayMs, Generator, Parameters
from controller.topology.model import Broker, Link, Topology


class RandomTreeParameters(Parameters, frozen=True, kw_only=True, forbid_unknown_fields=True):
    brokers: Annotated[int, Meta(ge=1, le=BROKERS_MAX, description="Brokers.")] = 15
    degree_max: Annotated[int, Meta(ge=2, le=1000, description="Links at one broker, at most.")] = 4
    delay_ms: Annotated[DelayMs, Meta(description="Delay of every link.")] = 0


class RandomTree(Generator):
    name = "random-tree"
    summary = "a random tree with a bounded number of links at each broker"
    Parameters = RandomTreeParameters

    def make(self, parameters: RandomTreeParameters) -> Topology:
        random = Random(f"{parameters.seed}/random-tree")
        names = [f"b{number}" for number in range(1, parameters.brokers + 1)]
        degree = dict.fromkeys(names[:1], 0)
        links: list[Link] = []
        for name in names[1:]:
            parent = random.choice(
                [other for other, links_held in degree.items() if links_held < parameters.degree_max]
            )
            degree[parent] += 1
            degree[name] = 1
            links.append(Link(parent, name, parameters.delay_ms))
        brokers = tuple(Broker(name, "leaf" if degree[name] <= 1 else "inner", name) for name in names)
        told = f"a random tree of {len(names)} brokers, {parameters.degree_max} links at most at each"
        return Topology(f"random-tree-{len(names)}", told, brokers, tuple(links))
