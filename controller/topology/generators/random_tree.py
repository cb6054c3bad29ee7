"""A random tree: each broker hangs on an earlier one that has room."""

from __future__ import annotations

from random import Random
from typing import Annotated

from msgspec import Meta

from controller.topology.generators.base import BROKERS_MAX, Generator, by_degree, numbered
from controller.topology.generators.links import LinkParameters, linked
from controller.topology.model import Topology


class RandomTreeParameters(LinkParameters, frozen=True, kw_only=True, forbid_unknown_fields=True):
    brokers: Annotated[int, Meta(ge=1, le=BROKERS_MAX, description="Brokers.")] = 15
    degree_max: Annotated[int, Meta(ge=2, le=1000, description="Links at one broker, at most.")] = 4


class RandomTree(Generator):
    name = "random-tree"
    summary = "a random tree with a bounded number of links at each broker"
    Parameters = RandomTreeParameters

    def make(self, parameters: RandomTreeParameters) -> Topology:
        random = Random(f"{parameters.seed}/random-tree")
        names = numbered(parameters.brokers)
        degree = dict.fromkeys(names[:1], 0)
        edges: list[tuple[str, str]] = []
        for name in names[1:]:
            parent = random.choice(
                [other for other, links_held in degree.items() if links_held < parameters.degree_max]
            )
            degree[parent] += 1
            degree[name] = 1
            edges.append((parent, name))
        told = f"a random tree of {len(names)} brokers, {parameters.degree_max} links at most at each"
        links = linked(edges, parameters, self.name)
        return Topology(f"random-tree-{len(names)}", told, by_degree(names, edges), links)
