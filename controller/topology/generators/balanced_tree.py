"""A tree in which every broker but the leaves has the same number of children."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from controller.topology.generators.base import Generator, by_degree, check_size, numbered
from controller.topology.generators.links import LinkParameters, linked
from controller.topology.model import Topology


class BalancedTreeParameters(LinkParameters, frozen=True, kw_only=True, forbid_unknown_fields=True):
    fan_out: Annotated[int, Meta(ge=1, le=1000, description="Children of a broker.")] = 2
    depth: Annotated[int, Meta(ge=1, le=100, description="Levels below the root.")] = 4


class BalancedTree(Generator):
    name = "balanced-tree"
    summary = "a tree with the same number of children at every broker"
    Parameters = BalancedTreeParameters

    def make(self, parameters: BalancedTreeParameters) -> Topology:
        fan_out, depth = parameters.fan_out, parameters.depth
        count = sum(fan_out**level for level in range(depth + 1))
        check_size(count)
        # Numbered level by level from the root, b1, so that the parent follows from the number.
        names = numbered(count)
        edges = [(names[(index - 1) // fan_out], names[index]) for index in range(1, count)]
        told = f"a tree of {count} brokers: {fan_out} children at each, {depth} levels below the root"
        links = linked(edges, parameters, self.name)
        return Topology(f"balanced-tree-{count}", told, by_degree(names, edges), links)
