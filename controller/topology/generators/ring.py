"""Brokers in a ring: one cycle, and two ways between any two."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated

from msgspec import Meta

from controller.topology.generators.base import BROKERS_MAX, Generator, by_degree, numbered
from controller.topology.generators.links import LinkParameters, linked
from controller.topology.model import Topology


class RingParameters(LinkParameters, frozen=True, kw_only=True, forbid_unknown_fields=True):
    brokers: Annotated[int, Meta(ge=3, le=BROKERS_MAX, description="Brokers.")] = 6


class Ring(Generator):
    name = "ring"
    summary = "brokers in a ring, two ways between any two"
    Parameters = RingParameters

    def make(self, parameters: RingParameters) -> Topology:
        names = numbered(parameters.brokers)
        edges = [*pairwise(names), (names[-1], names[0])]
        links = linked(edges, parameters, self.name)
        return Topology(f"ring-{len(names)}", f"{len(names)} brokers in a ring", by_degree(names, edges), links)
