"""Business partners, each with a hierarchy of brokers of its own: the workflow overlay of the CONGESTION paper.

The paper has four domains of ten brokers in three levels, with six process engines each: a head, three inner brokers,
and two leaves at each of those, one per engine. It does not say how the domains are joined; as its overlays have no
cycles, their heads stand in a row here, unless something else is asked for.
"""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import Annotated, Literal

from msgspec import Meta

from controller.topology.generators.base import Generator, check_size
from controller.topology.generators.links import LinkParameters, linked
from controller.topology.model import Broker, Topology

Join = Literal["line", "ring", "mesh"]


class DomainsParameters(LinkParameters, frozen=True, kw_only=True, forbid_unknown_fields=True):
    domains: Annotated[int, Meta(ge=1, le=1000, description="Domains.")] = 4
    inners: Annotated[int, Meta(ge=1, le=100, description="Inner brokers below the head of a domain.")] = 3
    leaves: Annotated[int, Meta(ge=1, le=100, description="Leaves at an inner broker.")] = 2
    join: Annotated[Join, Meta(description="How the heads of the domains are linked.")] = "line"


class Domains(Generator):
    name = "domains"
    summary = "domains with a hierarchy of three levels each, joined at their heads (after CONGESTION)"
    Parameters = DomainsParameters

    def make(self, parameters: DomainsParameters) -> Topology:
        size = 1 + parameters.inners * (1 + parameters.leaves)
        check_size(parameters.domains * size)
        heads = [f"d{domain}" for domain in range(1, parameters.domains + 1)]
        edges = _joined(heads, parameters.join)
        brokers = []
        for head in heads:
            brokers.append(Broker(head, "head", head))
            for inner in (f"{head}_{number}" for number in range(1, parameters.inners + 1)):
                leaves = [f"{inner}_{number}" for number in range(1, parameters.leaves + 1)]
                brokers += [Broker(inner, "inner", inner), *(Broker(leaf, "leaf", leaf) for leaf in leaves)]
                edges += [(head, inner), *((inner, leaf) for leaf in leaves)]
        told = f"{len(heads)} domains of {size} brokers in three levels, their heads joined in a {parameters.join}"
        links = linked(edges, parameters, self.name)
        return Topology(f"domains-{len(heads)}x{size}", told, tuple(brokers), links)


def _joined(heads: list[str], join: Join) -> list[tuple[str, str]]:
    if join == "mesh":
        return list(combinations(heads, 2))
    closing = [(heads[-1], heads[0])] if join == "ring" and len(heads) > 2 else []
    return [*pairwise(heads), *closing]
