"""The workload `attributes`: clients that subscribe to, publish and give up attribute filters, all from one seed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, count, cycle, islice
from random import Random
from typing import Annotated, Literal

from msgspec import Meta, Struct
from msgspec.structs import replace

from controller.errors import UsageError
from controller.topology import Topology
from controller.workloads import churn, market
from controller.workloads.interests import Interests
from controller.workloads.plans import Advertise, AnyOperation, Attach, PhaseName, Plan, Publish, Subscribe
from controller.workloads.publisher import Publisher

FINAL_MAX = 200
WARM_MS = 300

Rate = Annotated[int, Meta(gt=0, le=100_000)] | Annotated[float, Meta(gt=0, le=100_000)]
RateOrNone = Annotated[int, Meta(ge=0, le=10_000)] | Annotated[float, Meta(ge=0, le=10_000)]


class Attributes(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    kind: Literal["attributes"] = "attributes"
    publications: Annotated[int, Meta(ge=1, le=10_000_000)] | None = None
    """During load, evenly at `rate_hz`; as many as the load phase has time for if it is not said."""
    rate_hz: Rate = 50
    subscriptions: Annotated[int, Meta(ge=1, le=1_000_000)] = 100
    churn_hz: RateOrNone = 0
    """How often during load somebody cancels, subscribes anew, or leaves and comes back."""
    clients: Annotated[int, Meta(ge=1, le=100_000)] | None = None
    publishers: Annotated[int, Meta(ge=1, le=10_000)] | None = None
    """How many of the clients publish too."""
    names: Annotated[int, Meta(ge=1, le=100)] = 6
    values: Annotated[int, Meta(ge=10, le=1_000_000_000)] = 100
    """Numbers are drawn from 0 to `values`."""
    final: Annotated[int, Meta(ge=0, le=1_000_000)] | None = None
    """Publications after everything is healed and quiet."""
    advertise: bool = False
    """Advertise even where the scheme does not need it."""

    def fitted(self, load_s: float) -> Attributes:
        """With the number of publications settled for a load phase of that length."""
        if self.publications is None:
            return replace(self, publications=max(1, int(load_s * self.rate_hz)))
        if self.publications > load_s * self.rate_hz:
            takes_s = self.publications / self.rate_hz
            raise UsageError(
                f"{self.publications} publications at {self.rate_hz} per second take {takes_s:g} s, "
                f"but load_s is {load_s:g}; lengthen the phase or leave `publications` out"
            )
        return self

    @property
    def publication_count(self) -> int:
        if self.publications is None:
            raise ValueError("the number of publications is open until the workload is fitted to a load phase")
        return self.publications

    @property
    def load_ms(self) -> float:
        return self.publication_count * 1000 / self.rate_hz

    @property
    def publisher_count(self) -> int:
        return min(self.client_count, self.publishers or max(1, min(8, self.client_count // 3)))

    @property
    def client_count(self) -> int:
        return self.clients or max(2, self.publishers or 0, self.subscriptions // 5)

    @property
    def final_count(self) -> int:
        if self.final is not None:
            return self.final
        return max(self.publisher_count, min(FINAL_MAX, self.publication_count // 5))


def plan(workload: Attributes, topology: Topology, seed: int, needs_advertisements: bool) -> Plan:
    # A generator of its own for each part, so that schemes with and without advertisements get the same load.
    def chance(part: str) -> Random:
        return Random(f"{seed}/attributes/{part}")

    known = market.attributes(workload.names, workload.values)
    brokers = _brokers(topology, chance("clients"))
    broker_of = {f"c{n}": next(brokers) for n in range(1, workload.client_count + 1)}
    clients = list(broker_of)
    publishers = [Publisher(one, known, chance(f"publisher/{one}")) for one in clients[: workload.publisher_count]]
    subscribers = islice(cycle(clients), workload.subscriptions)
    subscribed = _subscriptions(list(subscribers), Interests(known, chance("interests")))

    operations: list[AnyOperation] = [
        Attach(phase="warm", at_ms=0, client=client, broker=broker) for client, broker in broker_of.items()
    ]
    if workload.advertise or needs_advertisements:
        operations += _advertisements(publishers)
    operations += subscribed
    publish = chance("times")
    operations += _publications(publishers, "load", workload.publication_count, workload.rate_hz, publish)
    operations += _publications(publishers, "final", workload.final_count, workload.rate_hz, publish)
    leavers = {client: broker_of[client] for client in clients[workload.publisher_count :]}
    fresh = Interests(known, chance("fresh"))
    operations += churn.operations(subscribed, leavers, fresh, chance("churn"), workload.churn_hz, workload.load_ms)
    return Plan.of(operations)


def _brokers(topology: Topology, random: Random) -> Iterator[str]:
    """Clients sit at the edge as long as there is room, then everywhere."""
    leaves = [broker.name for broker in topology.brokers if broker.role == "leaf"]
    everywhere = list(topology.broker_names)
    return chain(random.sample(leaves, len(leaves)), cycle(random.sample(everywhere, len(everywhere))))


def _advertisements(publishers: list[Publisher]) -> list[AnyOperation]:
    ids = count(1)
    return [
        Advertise(phase="warm", at_ms=5, client=publisher.client, adv=f"a{next(ids)}", filter=advertised)
        for publisher in publishers
        for advertised in publisher.advertised
    ]


def _subscriptions(subscribers: list[str], interests: Interests) -> list[Subscribe]:
    return [
        Subscribe(
            phase="warm",
            at_ms=10 + WARM_MS * index // len(subscribers),
            client=client,
            sub=f"s{index + 1}",
            filter=interests.draw(),
        )
        for index, client in enumerate(subscribers)
    ]


def _publications(
    publishers: list[Publisher], phase: PhaseName, publications: int, rate_hz: float, random: Random
) -> list[AnyOperation]:
    """Evenly spaced with a little jitter; everybody's turn comes, in an order that varies."""
    made: list[AnyOperation] = []
    turn: list[Publisher] = []
    for index in range(publications):
        if not turn:
            turn = random.sample(publishers, len(publishers))
        publisher = turn.pop()
        at_ms = int((index + random.random() / 2) * 1000 / rate_hz)
        made.append(Publish(phase=phase, at_ms=at_ms, client=publisher.client, content=publisher.content()))
    return made
