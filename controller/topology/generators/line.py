"""Brokers in a row."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated

from msgspec import Meta

from controller.topology.generators.base import BROKERS_MAX, Generator, by_degree, numbered
from controller.topology.generators.links import LinkParameters, linked
from controller.topology.model import Topology


class LineParameters(LinkParameters, frozen=True, kw_only=True, forbid_unknown_fields=True):
    brokers: Annotated[int, Meta(ge=1, le=BROKERS_MAX, description="Brokers.")] = 5


class Line(Generator):
    name = "line"
    summary = "brokers in a row"
    Parameters = LineParameters

    def make(self, parameters: LineParameters) -> Topology:
        names = numbered(parameters.brokers)
        edges = list(pairwise(names))
        links = linked(edges, parameters, self.name)
        return Topology(f"line-{len(names)}", f"{len(names)} brokers in a row", by_degree(names, edges), links)
