"""Seeded generators of what the clients of a run do. A kind is its parameters and a function that makes the plan."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from controller.topology import Topology
from controller.workloads import attributes, xpath
from controller.workloads.plans import Plan

Workload = attributes.Attributes | xpath.XPath


class Kind(NamedTuple):
    parameters: type[attributes.Attributes] | type[xpath.XPath]
    plan: Callable[[Any, Topology, int, bool], Plan]


def names() -> list[str]:
    return sorted(KINDS)


def plan(workload: Workload, topology: Topology, seed: int, needs_advertisements: bool) -> Plan:
    return KINDS[workload.kind].plan(workload, topology, seed, needs_advertisements)


KINDS: dict[str, Kind] = {
    "attributes": Kind(attributes.Attributes, attributes.plan),
    "xpath": Kind(xpath.XPath, xpath.plan),
}
