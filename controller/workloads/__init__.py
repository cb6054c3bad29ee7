"""Seeded generators of what the clients of a run do: one file for each kind, registered at the foot."""

from __future__ import annotations

from functools import partial

from controller.topology import Topology
from controller.workloads import load
from controller.workloads.attributes import AttributesKind
from controller.workloads.base import Kind
from controller.workloads.covering_roots import CoveringRootsKind
from controller.workloads.load import Load
from controller.workloads.plans import Plan
from controller.workloads.prefixes import PrefixesKind
from controller.workloads.sensors import SensorsKind
from controller.workloads.stocks import StocksKind
from controller.workloads.xpath import XPathKind

__all__ = ["KINDS", "Kind", "Workload", "names", "plan"]

Workload = Load
KINDS: dict[str, Kind] = {}


def names() -> list[str]:
    return sorted(KINDS)


def plan(workload: Workload, topology: Topology, seed: int, needs_advertisements: bool) -> Plan:
    kind = KINDS[workload.kind]
    return load.plan(workload, partial(kind.world, workload), topology, seed, needs_advertisements)


def register(kind: Kind) -> None:
    KINDS[kind.name] = kind


register(AttributesKind())
register(XPathKind())
register(StocksKind())
register(SensorsKind())
register(PrefixesKind())
register(CoveringRootsKind())
