"""Transit domains in the middle, stub domains around them: after GT-ITM (Zegura, Calvert, Bhattacharjee).

Domains are connected random graphs. Each transit node has its stub domains, each joined to it by one link; further
links may join a stub to a second transit node, or two stubs. Weights keep routes where they belong: what stays in a
domain never leaves it, no stub carries the traffic of others, and a link between two stubs serves those two only.
"""

from __future__ import annotations

from itertools import cycle, islice
from random import Random
from typing import Annotated, NamedTuple

from msgspec import Meta

from controller.errors import UsageError
from controller.topology.generators.base import (
    BROKERS_MAX,
    Count,
    DelayMs,
    Generator,
    Parameters,
    Probability,
    connected,
    diameter,
    sizes,
    tidy,
)
from controller.topology.model import Broker, Link, Topology

Mean = Annotated[int, Meta(ge=1, le=100)] | Annotated[float, Meta(ge=1, le=100)]
Edge = tuple[str, str]


class TransitStubParameters(Parameters, frozen=True, kw_only=True, forbid_unknown_fields=True):
    transits: Annotated[int, Meta(ge=1, le=100, description="Transit domains.")] = 2
    transit_nodes: Annotated[Mean, Meta(description="Brokers in a transit domain, on average.")] = 2
    stubs: Annotated[Mean, Meta(description="Stub domains at a transit broker, on average.")] = 3
    stub_nodes: Annotated[Mean, Meta(description="Brokers in a stub domain, on average.")] = 5
    p_transits: Annotated[
        Probability, Meta(description="How likely two transit domains are linked, beyond what joins them all.")
    ] = 0.5
    p_transit: Annotated[
        Probability, Meta(description="How likely two brokers of a transit domain are linked, likewise.")
    ] = 0.6
    p_stub: Annotated[
        Probability, Meta(description="How likely two brokers of a stub domain are linked, likewise.")
    ] = 0.3
    transit_stub_links: Annotated[Count, Meta(description="Further links between a stub and a transit broker.")] = 0
    stub_stub_links: Annotated[Count, Meta(description="Links between two stub domains.")] = 0
    delay_ms: Annotated[DelayMs, Meta(description="Delay of a link for each unit of its weight.")] = 1
    consumers: Annotated[Count, Meta(description="Edge brokers for subscribers, each linked to one stub broker.")] = 0
    producers: Annotated[Count, Meta(description="Edge brokers for publishers, each linked to one stub broker.")] = 0


class Domain(NamedTuple):
    names: list[str]
    edges: list[Edge]
    gateway: str = ""
    """The transit broker that a stub hangs on."""


class Weights(NamedTuple):
    """What a link of each kind costs; inside a domain every link costs 1."""

    between_transits: int
    uplink: int
    second_uplink: int
    between_stubs: int


class TransitStub(Generator):
    name = "transit-stub"
    summary = "transit domains in the middle, stub domains around them (after GT-ITM)"
    Parameters = TransitStubParameters

    def make(self, parameters: TransitStubParameters) -> Topology:
        _check(parameters)
        random = Random(f"{parameters.seed}/transit-stub")
        transits = _transits(parameters, random)
        stubs = _stubs(parameters, transits, random)
        joints = _joints(parameters, transits, random)
        weights = _weights(transits, joints, stubs)
        weighed: list[tuple[Edge, int]] = [(edge, 1) for domain in (*transits, *stubs) for edge in domain.edges]
        weighed += [(edge, weights.between_transits) for edge in joints]
        weighed += [((stub.gateway, random.choice(stub.names)), weights.uplink) for stub in stubs]
        weighed += _redundant(parameters, transits, stubs, weights, {frozenset(edge) for edge, _ in weighed}, random)
        edges, edge_brokers = _edge_brokers(parameters, stubs, random)
        weighed += [(edge, 1) for edge in edges]
        brokers = [Broker(name, "transit", name) for domain in transits for name in domain.names]
        brokers += [Broker(name, "stub", name) for domain in stubs for name in domain.names]
        links = tuple(Link(a, b, tidy(weight * parameters.delay_ms), weight) for (a, b), weight in weighed)
        made = (*brokers, *edge_brokers)
        return Topology(f"transit-stub-{len(made)}", _description(transits, stubs, parameters), made, links)


def _check(parameters: TransitStubParameters) -> None:
    routers = parameters.transits * parameters.transit_nodes * (1 + parameters.stubs * parameters.stub_nodes)
    brokers = round(routers) + parameters.consumers + parameters.producers
    if brokers > BROKERS_MAX:
        raise UsageError(f"that would be about {brokers} brokers; {BROKERS_MAX} at most")


def _transits(parameters: TransitStubParameters, random: Random) -> list[Domain]:
    made = []
    for number, size in enumerate(sizes(parameters.transits, parameters.transit_nodes, random), 1):
        names = [f"t{number}_{node}" for node in range(1, size + 1)]
        made.append(Domain(names, connected(names, parameters.p_transit, random)))
    return made


def _stubs(parameters: TransitStubParameters, transits: list[Domain], random: Random) -> list[Domain]:
    gateways = [name for domain in transits for name in domain.names]
    held = sizes(len(gateways), parameters.stubs, random)
    places = [(gateway, stub) for gateway, count in zip(gateways, held, strict=True) for stub in range(1, count + 1)]
    made = []
    for (gateway, stub), size in zip(places, sizes(len(places), parameters.stub_nodes, random), strict=True):
        names = [f"s{gateway[1:]}_{stub}_{node}" for node in range(1, size + 1)]
        made.append(Domain(names, connected(names, parameters.p_stub, random), gateway))
    return made


def _joints(parameters: TransitStubParameters, transits: list[Domain], random: Random) -> list[Edge]:
    """Links between transit domains, each between two brokers chosen at random."""
    of = {str(number): domain for number, domain in enumerate(transits)}
    return [
        (random.choice(of[a].names), random.choice(of[b].names))
        for a, b in connected(list(of), parameters.p_transits, random)
    ]


def _weights(transits: list[Domain], joints: list[Edge], stubs: list[Domain]) -> Weights:
    transit_inside = max(diameter(domain.names, domain.edges) for domain in transits)
    stub_inside = max(diameter(domain.names, domain.edges) for domain in stubs)
    # Out of a domain and in again is dearer than any way through it.
    between_transits = transit_inside // 2 + 1
    names = [name for domain in transits for name in domain.names]
    hops = diameter(names, [*(edge for domain in transits for edge in domain.edges), *joints])
    across = hops * between_transits
    # Through a stub, down one link and up another, is dearer than any way across the middle.
    uplink = max(across, stub_inside) // 2 + 1
    # By way of a third stub is dearer than by way of the middle.
    return Weights(between_transits, uplink, uplink + 1, stub_inside + uplink + across // 2 + 1)


def _redundant(
    parameters: TransitStubParameters,
    transits: list[Domain],
    stubs: list[Domain],
    weights: Weights,
    taken: set[frozenset[str]],
    random: Random,
) -> list[tuple[Edge, int]]:
    gateways = [name for domain in transits for name in domain.names]
    _check_room("transit_stub_links", parameters.transit_stub_links, len(stubs) if len(gateways) > 1 else 0)
    _check_room("stub_stub_links", parameters.stub_stub_links, len(stubs) if len(stubs) > 2 else len(stubs) - 1)
    made: list[tuple[Edge, int]] = []
    while len(made) < parameters.transit_stub_links:
        stub = random.choice(stubs)
        edge = (random.choice([name for name in gateways if name != stub.gateway]), random.choice(stub.names))
        if frozenset(edge) not in taken:
            taken.add(frozenset(edge))
            made.append((edge, weights.second_uplink))
    while len(made) < parameters.transit_stub_links + parameters.stub_stub_links:
        one, other = random.sample(stubs, 2)
        edge = (random.choice(one.names), random.choice(other.names))
        if frozenset(edge) not in taken:
            taken.add(frozenset(edge))
            made.append((edge, weights.between_stubs))
    return made


def _check_room(name: str, wanted: int, room: int) -> None:
    if wanted > room:
        raise UsageError(f"{name} is {wanted}, but such a network has room for {room}; one for each stub domain")


def _edge_brokers(
    parameters: TransitStubParameters, stubs: list[Domain], random: Random
) -> tuple[list[Edge], list[Broker]]:
    """At stub brokers chosen at random, each once as long as there are enough of them."""
    names = [name for stub in stubs for name in stub.names]
    places = cycle(random.sample(names, len(names)))
    brokers = [Broker(f"producer{n}", "producer", f"producer{n}") for n in range(1, parameters.producers + 1)]
    brokers += [Broker(f"consumer{n}", "consumer", f"consumer{n}") for n in range(1, parameters.consumers + 1)]
    return [(place, one.name) for one, place in zip(brokers, islice(places, len(brokers)), strict=True)], brokers


def _description(transits: list[Domain], stubs: list[Domain], parameters: TransitStubParameters) -> str:
    counts = [
        (sum(len(domain.names) for domain in transits), "transit brokers in", len(transits), "domains"),
        (sum(len(domain.names) for domain in stubs), "stub brokers in", len(stubs), "domains"),
    ]
    told = [f"{brokers} {what} {domains} {kind}" for brokers, what, domains, kind in counts]
    told += [f"{parameters.consumers} consumers"] if parameters.consumers else []
    told += [f"{parameters.producers} producer{'s'[: parameters.producers > 1]}"] if parameters.producers else []
    return ", ".join(told)
