"""Preferential attachment (Barabási and Albert): who has many links gets more, so a few brokers become hubs.

Not networkx's generator: its choice of partners hangs on how that version draws them, and a seed has to mean the same
overlay for as long as the ready files are there.
"""

from __future__ import annotations

from random import Random
from typing import Annotated

from msgspec import Meta

from controller.errors import UsageError
from controller.topology.generators.base import BROKERS_MAX, Generator, by_degree, numbered
from controller.topology.generators.links import LinkParameters, linked
from controller.topology.model import Topology


class BarabasiAlbertParameters(LinkParameters, frozen=True, kw_only=True, forbid_unknown_fields=True):
    brokers: Annotated[int, Meta(ge=2, le=BROKERS_MAX, description="Brokers.")] = 50
    links: Annotated[int, Meta(ge=1, le=100, description="Links that each new broker brings; 1 gives a tree.")] = 2


class BarabasiAlbert(Generator):
    name = "barabasi-albert"
    summary = "a network with few hubs and many small brokers (after Barabási and Albert)"
    Parameters = BarabasiAlbertParameters

    def make(self, parameters: BarabasiAlbertParameters) -> Topology:
        if parameters.links >= parameters.brokers:
            raise UsageError(f"{parameters.links} links for each of {parameters.brokers} brokers; fewer links, please")
        names = numbered(parameters.brokers)
        edges = _grown(names, parameters.links, Random(f"{parameters.seed}/{self.name}"))
        told = f"{len(names)} brokers by preferential attachment, {parameters.links} links for each new one"
        links = linked(edges, parameters, self.name)
        return Topology(f"barabasi-albert-{len(names)}", told, by_degree(names, edges), links)


def _grown(names: list[str], count: int, random: Random) -> list[tuple[str, str]]:
    """A star of the first brokers, then each next one at `count` of those before it, by the links they have."""
    edges = [(names[0], name) for name in names[1 : count + 1]]
    ends = [end for edge in edges for end in edge]
    for name in names[count + 1 :]:
        chosen: list[str] = []
        while len(chosen) < count:
            # Every broker stands in `ends` once for each of its links.
            other = random.choice(ends)
            if other not in chosen:
                chosen.append(other)
        edges += [(other, name) for other in chosen]
        ends += [*chosen, *[name] * count]
    return edges
