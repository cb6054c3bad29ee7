"""A hub and its leaves."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from controller.topology.generators.base import BROKERS_MAX, Generator
from controller.topology.generators.links import LinkParameters, linked
from controller.topology.model import Broker, Topology


class StarParameters(LinkParameters, frozen=True, kw_only=True, forbid_unknown_fields=True):
    brokers: Annotated[int, Meta(ge=2, le=BROKERS_MAX, description="Brokers, the hub included.")] = 17


class Star(Generator):
    name = "star"
    summary = "a hub with leaves around it"
    Parameters = StarParameters

    def make(self, parameters: StarParameters) -> Topology:
        leaves = [f"leaf{number}" for number in range(1, parameters.brokers)]
        brokers = (Broker("hub", "inner", "hub"), *(Broker(name, "leaf", name) for name in leaves))
        links = linked([("hub", name) for name in leaves], parameters, self.name)
        told = f"a hub with {len(leaves)} {'leaves' if len(leaves) > 1 else 'leaf'}"
        return Topology(f"star-{len(brokers)}", told, brokers, links)
