"""What every kind of workload has: so many clients, subscriptions and publications at such rates, placed and timed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, count, cycle, islice
from random import Random
from typing import Annotated, NamedTuple, Protocol, Self

from msgspec import Meta, Struct
from msgspec.structs import replace

from controller.errors import UsageError
from controller.topology import Topology
from controller.workloads import churn
from controller.workloads.churn import Interests
from controller.workloads.plans import Advertise, AnyOperation, Attach, Content, PhaseName, Plan, Publish, Subscribe

FINAL_MAX = 200
WARM_MS = 300

Rate = Annotated[int, Meta(gt=0, le=100_000)] | Annotated[float, Meta(gt=0, le=100_000)]
RateOrNone = Annotated[int, Meta(ge=0, le=10_000)] | Annotated[float, Meta(ge=0, le=10_000)]


class Load(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    publications: Annotated[int, Meta(ge=1, le=10_000_000)] | None = None
    """During load, evenly at `rate_hz`; as many as the load phase has time for if it is not said."""
    rate_hz: Rate = 50
    subscriptions: Annotated[int, Meta(ge=1, le=1_000_000)] = 100
    churn_hz: RateOrNone = 0
    """How often during load somebody cancels, subscribes anew, or leaves and comes back."""
    clients: Annotated[int, Meta(ge=1, le=100_000)] | None = None
    publishers: Annotated[int, Meta(ge=1, le=10_000)] | None = None
    """How many of the clients publish too."""
    final: Annotated[int, Meta(ge=0, le=1_000_000)] | None = None
    """Publications after everything is healed and quiet."""
    advertise: bool = False
    """Advertise even where the scheme does not need it."""

    def fitted(self, load_s: float) -> Self:
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


class Publisher(Protocol):
    client: str
    advertised: tuple[str, ...]

    def content(self) -> Content: ...


class World(NamedTuple):
    """What a kind of workload adds: its language, what is published, and what is asked for."""

    kind: str
    lang: str
    publisher: Callable[[str, Random], Publisher]
    interests: Callable[[Random], Interests]


def plan(load: Load, world: World, topology: Topology, seed: int, needs_advertisements: bool) -> Plan:
    # A generator of its own for each part, so that schemes with and without advertisements get the same load.
    def chance(part: str) -> Random:
        return Random(f"{seed}/{world.kind}/{part}")

    brokers = _brokers(topology, load.publisher_count, chance("clients"))
    broker_of = {f"c{n}": next(brokers) for n in range(1, load.client_count + 1)}
    clients = list(broker_of)
    publishers = [world.publisher(one, chance(f"publisher/{one}")) for one in clients[: load.publisher_count]]
    subscribers = islice(cycle(clients), load.subscriptions)
    subscribed = _subscriptions(list(subscribers), world.lang, world.interests(chance("interests")))

    operations: list[AnyOperation] = [
        Attach(phase="warm", at_ms=0, client=client, broker=broker) for client, broker in broker_of.items()
    ]
    if load.advertise or needs_advertisements:
        operations += _advertisements(publishers, world.lang)
    operations += subscribed
    publish = chance("times")
    operations += _publications(publishers, world.lang, "load", load.publication_count, load.rate_hz, publish)
    operations += _publications(publishers, world.lang, "final", load.final_count, load.rate_hz, publish)
    leavers = {client: broker_of[client] for client in clients[load.publisher_count :]}
    fresh = world.interests(chance("fresh"))
    operations += churn.operations(subscribed, leavers, fresh, chance("churn"), load.churn_hz, load.load_ms)
    return Plan.of(operations)


def _brokers(topology: Topology, publishers: int, random: Random) -> Iterator[str]:
    """Where client after client sits, publishers first.

    Publishers at `producer` brokers and the others at `consumer` brokers where the overlay has such; else at the edge
    as long as there is room, then everywhere.
    """

    def shuffled(*roles: str) -> list[str]:
        names = [broker.name for broker in topology.brokers if not roles or broker.role in roles]
        return random.sample(names, len(names))

    usual = chain(shuffled("leaf", "stub"), cycle(shuffled()))
    producers, consumers = shuffled("producer"), shuffled("consumer")
    yield from islice(cycle(producers) if producers else usual, publishers)
    yield from cycle(consumers) if consumers else usual


def _advertisements(publishers: list[Publisher], lang: str) -> list[AnyOperation]:
    ids = count(1)
    return [
        Advertise(phase="warm", at_ms=5, client=publisher.client, adv=f"a{next(ids)}", filter=advertised, lang=lang)
        for publisher in publishers
        for advertised in publisher.advertised
    ]


def _subscriptions(subscribers: list[str], lang: str, interests: Interests) -> list[Subscribe]:
    return [
        Subscribe(
            phase="warm",
            at_ms=10 + WARM_MS * index // len(subscribers),
            client=client,
            sub=f"s{index + 1}",
            filter=interests.draw(),
            lang=lang,
        )
        for index, client in enumerate(subscribers)
    ]


def _publications(
    publishers: list[Publisher], lang: str, phase: PhaseName, publications: int, rate_hz: float, random: Random
) -> list[AnyOperation]:
    """Evenly spaced with a little jitter; everybody's turn comes, in an order that varies."""
    made: list[AnyOperation] = []
    turn: list[Publisher] = []
    for index in range(publications):
        if not turn:
            turn = random.sample(publishers, len(publishers))
        publisher = turn.pop()
        at_ms = int((index + random.random() / 2) * 1000 / rate_hz)
        content = publisher.content()
        made.append(Publish(phase=phase, at_ms=at_ms, client=publisher.client, content=content, lang=lang))
    return made
