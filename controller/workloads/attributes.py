"""The workload `attributes`: clients that subscribe to, publish and give up attribute filters, all from one seed."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from controller.topology import Topology
from controller.workloads import load, market
from controller.workloads.interests import Interests
from controller.workloads.load import Load, World
from controller.workloads.plans import Plan
from controller.workloads.publisher import Publisher


class Attributes(Load, frozen=True, kw_only=True, forbid_unknown_fields=True):
    kind: Literal["attributes"] = "attributes"
    names: Annotated[int, Meta(ge=1, le=100)] = 6
    values: Annotated[int, Meta(ge=10, le=1_000_000_000)] = 100
    """Numbers are drawn from 0 to `values`."""
    selectivity: Annotated[float, Meta(gt=0, le=1)] = 0.15
    """A filter gets further constraints until about this share of publications matches it."""
    constrained: Annotated[int, Meta(ge=1, le=100)] = 3
    """How many attributes a filter constrains at most."""


def plan(workload: Attributes, topology: Topology, seed: int, needs_advertisements: bool) -> Plan:
    known = market.attributes(workload.names, workload.values)
    choosy = market.Choosy(workload.selectivity, workload.constrained)
    world = World(
        kind="attributes",
        lang="attr",
        publisher=lambda client, random: Publisher(client, known, random),
        interests=lambda random: Interests(known, choosy, random),
    )
    return load.plan(workload, world, topology, seed, needs_advertisements)
