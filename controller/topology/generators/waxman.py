"""Brokers at random places in a square, linked the likelier the nearer they are (Waxman); delays follow distances.

Not networkx's generator: it may leave the network in parts, and what a seed means is up to its version.
"""

from __future__ import annotations

import math
from itertools import combinations
from random import Random
from typing import Annotated

from msgspec import Meta

from controller.topology.generators.base import Generator, by_degree, numbered
from controller.topology.generators.links import LinkParameters, Weights, linked
from controller.topology.geography import FIBRE_KM_PER_MS
from controller.topology.model import Topology

BROKERS_MAX = 2000
"""Every pair is looked at."""

Share = Annotated[int, Meta(ge=0.001, le=1)] | Annotated[float, Meta(ge=0.001, le=1)]
SideKm = Annotated[int, Meta(ge=0, le=20_000)] | Annotated[float, Meta(ge=0, le=20_000)]
Edge = tuple[str, str]


class WaxmanParameters(LinkParameters, frozen=True, kw_only=True, forbid_unknown_fields=True):
    brokers: Annotated[int, Meta(ge=1, le=BROKERS_MAX, description="Brokers.")] = 50
    beta: Annotated[Share, Meta(description="How likely two brokers are linked that stand at one place.")] = 0.4
    alpha: Annotated[
        Share, Meta(description="How far links reach: likelihood falls with distance / (alpha x diagonal).")
    ] = 0.1
    side_km: Annotated[
        SideKm, Meta(description="Side of the square; light in a fibre needs so long, and delays are added to it.")
    ] = 1000
    weights: Annotated[Weights, Meta(description="As everywhere, but by delay if nothing is said.")] = "delay"


class Waxman(Generator):
    name = "waxman"
    summary = "brokers in a square, linked the likelier the nearer they are (after Waxman)"
    Parameters = WaxmanParameters

    def make(self, parameters: WaxmanParameters) -> Topology:
        random = Random(f"{parameters.seed}/{self.name}")
        names = numbered(parameters.brokers)
        at = {name: (random.random(), random.random()) for name in names}
        apart = {(a, b): math.dist(at[a], at[b]) for a, b in combinations(names, 2)}
        reach = parameters.alpha * math.sqrt(2)
        edges = [
            pair for pair, distance in apart.items() if random.random() < parameters.beta * math.exp(-distance / reach)
        ]
        edges += _bridges(names, edges, apart)
        further_ms = [apart[edge] * parameters.side_km / FIBRE_KM_PER_MS for edge in edges]
        told = f"{len(names)} brokers in a square of {parameters.side_km} km, near ones linked more often than far ones"
        links = linked(edges, parameters, self.name, further_ms)
        return Topology(f"waxman-{len(names)}", told, by_degree(names, edges), links)


def _bridges(names: list[str], edges: list[Edge], apart: dict[Edge, float]) -> list[Edge]:
    """The shortest links that make one network out of its parts."""
    part = {name: {name} for name in names}

    def join(a: str, b: str) -> bool:
        if part[a] is part[b]:
            return False
        smaller, larger = sorted((part[a], part[b]), key=len)
        larger |= smaller
        part.update(dict.fromkeys(smaller, larger))
        return True

    for a, b in edges:
        join(a, b)
    return [pair for _, pair in sorted((distance, pair) for pair, distance in apart.items()) if join(*pair)]
