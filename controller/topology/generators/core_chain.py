"""A chain of core brokers with a tree at each: the default overlay of the CONGESTION paper.

The paper's figure 5 is lost; its text has 49 brokers, five of them core brokers A to E, and publishers at the three
edge brokers near E. Our reading: each core broker has three inner brokers with two edge brokers each, the last one two
inner brokers with three edge brokers each, and the first of those carries the publishers.
"""

from __future__ import annotations

from itertools import pairwise
from string import ascii_lowercase
from typing import Annotated

from msgspec import Meta

from controller.topology.generators.base import Generator, check_size
from controller.topology.generators.links import LinkParameters, linked
from controller.topology.model import Broker, Topology


class CoreChainParameters(LinkParameters, frozen=True, kw_only=True, forbid_unknown_fields=True):
    cores: Annotated[int, Meta(ge=1, le=26, description="Core brokers, in a row.")] = 5
    inners: Annotated[int, Meta(ge=1, le=50, description="Inner brokers at a core broker other than the last.")] = 3
    edges: Annotated[int, Meta(ge=1, le=50, description="Edge brokers at such an inner broker.")] = 2
    last_inners: Annotated[
        int, Meta(ge=1, le=50, description="Inner brokers at the last core broker; the first has the producers.")
    ] = 2
    last_edges: Annotated[int, Meta(ge=1, le=50, description="Edge brokers at such an inner broker.")] = 3


class CoreChain(Generator):
    name = "core-chain"
    summary = "a chain of core brokers with a tree at each, producers at its end (after CONGESTION)"
    Parameters = CoreChainParameters

    def make(self, parameters: CoreChainParameters) -> Topology:
        letters = ascii_lowercase[: parameters.cores]
        usual = parameters.inners * (1 + parameters.edges)
        check_size(len(letters) * (1 + usual) + parameters.last_inners * (1 + parameters.last_edges) - usual)
        brokers = [_broker(f"core_{letter}", "core") for letter in letters]
        pairs = list(pairwise(broker.name for broker in brokers))
        for letter in letters:
            is_last = letter == letters[-1]
            for inner in range(1, 1 + (parameters.last_inners if is_last else parameters.inners)):
                brokers.append(_broker(f"inner_{letter}{inner}", "inner"))
                pairs.append((f"core_{letter}", f"inner_{letter}{inner}"))
                role = "producer" if is_last and inner == 1 else "consumer"
                for edge in range(1, 1 + (parameters.last_edges if is_last else parameters.edges)):
                    brokers.append(_broker(f"edge_{letter}{inner}_{edge}", role))
                    pairs.append((f"inner_{letter}{inner}", f"edge_{letter}{inner}_{edge}"))
        told = f"{len(letters)} core brokers in a row, inner and edge brokers at each, producers at the last"
        links = linked(pairs, parameters, self.name)
        return Topology(f"core-chain-{len(brokers)}", told, tuple(brokers), links)


def _broker(name: str, role: str) -> Broker:
    return Broker(name, role, name)
