"""A tree whose nodes are groups of interchangeable brokers: the routing networks of the REDUNDANT paper.

The root is the one broker that publishers connect to, each leaf a broker that subscribers connect to; in between, a
node is a group of brokers, and every broker of a node is linked to every broker of its parent. Roles are those that
workloads know: `producer` is the paper's PHB, `consumer` its SHB.
"""

from __future__ import annotations

from itertools import product
from typing import Annotated

from msgspec import Meta

from controller.topology.generators.base import Generator, check_size
from controller.topology.generators.links import LinkParameters, linked
from controller.topology.model import Broker, Topology

ROOT = "n0"


class RedundantTreeParameters(LinkParameters, frozen=True, kw_only=True, forbid_unknown_fields=True):
    width: Annotated[int, Meta(ge=1, le=100, description="Child nodes of a node.")] = 2
    depth: Annotated[int, Meta(ge=1, le=20, description="Levels of nodes below the root.")] = 3
    redundancy: Annotated[
        int, Meta(ge=1, le=20, description="Brokers in a node that is neither the root nor a leaf.")
    ] = 2


class RedundantTree(Generator):
    name = "redundant-tree"
    summary = "a tree of groups of interchangeable brokers, the publishers' broker at its root"
    Parameters = RedundantTreeParameters

    def make(self, parameters: RedundantTreeParameters) -> Topology:
        width, depth, redundancy = parameters.width, parameters.depth, parameters.redundancy
        groups = sum(width**level for level in range(1, depth))
        check_size(1 + groups * redundancy + width**depth)
        brokers = [Broker(ROOT, "producer", ROOT)]
        edges: list[tuple[str, str]] = []
        above: dict[str, list[str]] = {"n": [ROOT]}
        for level in range(1, depth + 1):
            nodes = {}
            for parent, number in product(above, range(1, width + 1)):
                node = f"{parent}_{number}" if level > 1 else f"n{number}"
                nodes[node] = _members(node, redundancy if level < depth else 1)
                brokers += [Broker(name, "inner" if level < depth else "consumer", node) for name in nodes[node]]
                edges += product(above[parent], nodes[node])
            above = nodes
        told = f"{groups} groups of {redundancy} brokers below 1 producer, {width**depth} consumers at the leaves"
        links = linked(edges, parameters, self.name)
        return Topology(f"redundant-tree-{len(brokers)}", told, tuple(brokers), links)


def _members(node: str, count: int) -> list[str]:
    """`n1` holds `n1a` and `n1b`; alone, a broker has its node's name."""
    return [f"{node}{chr(ord('a') + index)}" for index in range(count)] if count > 1 else [node]
