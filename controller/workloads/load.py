"""What every kind of workload has: so many clients, subscriptions and publications at such rates, placed and timed."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count, cycle, islice
from random import Random
from typing import Annotated, NamedTuple, Protocol, Self

from msgspec import Meta, Struct
from msgspec.structs import replace

from controller.errors import UsageError
from controller.topology import Topology
from controller.workloads.agenda import Agenda
from controller.workloads.arrivals import PROCESSES, Arrivals
from controller.workloads.churns import Churn
from controller.workloads.churns.poisson import Poisson
from controller.workloads.moves import Move
from controller.workloads.plans import Advertise, AnyOperation, Attach, Content, Lang, Plan, Publish, Subscribe
from controller.workloads.population import Interests, Population
from controller.workloads.scene import Model, Scene
from controller.workloads.seating import Seating

FINAL_MAX = 200

Rate = Annotated[int, Meta(gt=0, le=100_000)] | Annotated[float, Meta(gt=0, le=100_000)]
RateOrNone = Annotated[int, Meta(ge=0, le=10_000)] | Annotated[float, Meta(ge=0, le=10_000)]
Seconds = Annotated[int, Meta(gt=0, le=86_400)] | Annotated[float, Meta(gt=0, le=86_400)]


class Load(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    kind: str
    publications: Annotated[
        Annotated[int, Meta(ge=1, le=10_000_000)] | None,
        Meta(description="Publications during load; as many as there is time for if left out."),
    ] = None
    rate_hz: Annotated[Rate, Meta(description="Publications in a second, of all publishers together.")] = 50
    arrivals: Annotated[
        Arrivals, Meta(description="When they come: regular, evenly with a little jitter; poisson, each on its own.")
    ] = "regular"
    subscriptions: Annotated[int, Meta(ge=1, le=1_000_000, description="Subscriptions made before the load.")] = 100
    subscribe_s: Annotated[Seconds, Meta(description="How long it takes until all of them are asked for.")] = 0.3
    churn_hz: Annotated[
        RateOrNone, Meta(description="How often during load somebody changes their mind: `poisson` churn in short.")
    ] = 0
    churn: Annotated[
        Churn | list[Churn], Meta(description="Who changes their mind, comes and goes: one model, or a list of them.")
    ] = []
    moves: Annotated[
        Move | list[Move], Meta(description="Who moves from broker to broker: one model, or a list of them.")
    ] = []
    clients: Annotated[
        Annotated[int, Meta(ge=1, le=100_000)] | None,
        Meta(description="Clients; one for five subscriptions if left out."),
    ] = None
    publishers: Annotated[
        Annotated[int, Meta(ge=1, le=10_000)] | None,
        Meta(description="How many of the clients publish too; a third of them, 8 at most, if left out."),
    ] = None
    final: Annotated[
        Annotated[int, Meta(ge=0, le=1_000_000)] | None,
        Meta(description="Publications after everything is healed and quiet; a fifth, 200 at most, if left out."),
    ] = None
    advertise: Annotated[bool, Meta(description="Advertise even where the scheme does not need it.")] = False

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

    def check(self, load_s: float) -> None:
        """Raises UsageError for what the types of the parameters cannot say."""
        for model in self.models:
            model.check(load_s, self.root_count)

    @property
    def root_count(self) -> int:
        """How many filters cover many others on purpose."""
        return 0

    @property
    def models(self) -> list[Model]:
        """Who changes what during load, in the order of the file."""
        plain: list[Model] = [Poisson(hz=self.churn_hz)] if self.churn_hz else []
        churn = self.churn if isinstance(self.churn, list) else [self.churn]
        moves = self.moves if isinstance(self.moves, list) else [self.moves]
        return [*plain, *churn, *moves]

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

    lang: Lang
    publisher: Callable[[int, str, Random], Publisher]
    """Of its number, from 0, and its client."""
    interests: Callable[[Random], Interests]
    """Of those who subscribe before the load."""
    fresh: Callable[[Random], Interests] | None = None
    """Of those who change their mind; the same if there is nothing to be said about them."""
    roots: frozenset[str] = frozenset()
    """Filters that cover many others on purpose."""


def plan(
    load: Load, world_of: Callable[[Random], World], topology: Topology, seed: int, needs_advertisements: bool
) -> Plan:
    # A generator of its own for each part, so that schemes with and without advertisements get the same load.
    def chance(part: str) -> Random:
        return Random(f"{seed}/{load.kind}/{part}")

    world = world_of(chance("world"))
    seating = Seating(topology, chance("clients"))
    clients = [f"c{number}" for number in range(1, load.client_count + 1)]
    broker_of = seating.of(clients, load.publisher_count)
    publishers = [
        world.publisher(number, client, chance(f"publisher/{client}"))
        for number, client in enumerate(clients[: load.publisher_count])
    ]
    subscribers = list(islice(cycle(clients), load.subscriptions))
    subscribed = _subscriptions(load, subscribers, world.lang, world.interests(chance("interests")))

    operations: list[AnyOperation] = [
        Attach(phase="warm", at_ms=0, client=client, broker=broker) for client, broker in broker_of.items()
    ]
    if load.advertise or needs_advertisements:
        operations += _advertisements(publishers, world.lang)
    operations += subscribed
    publish = chance("times")
    for phase, publications in (("load", load.publication_count), ("final", load.final_count)):
        operations += _publications(load, publishers, world.lang, phase, publications, publish)
    fresh = world.fresh or world.interests
    population = Population(broker_of, {one.client for one in publishers}, world.lang, fresh(chance("fresh")))
    population.settle(subscribed)
    scene = Scene(Agenda(load.load_ms), population, seating, fresh(chance("topics")), world.roots)
    for number, model in enumerate(load.models):
        model.schedule(scene, chance(f"{number}/{model.name()}"))
    scene.agenda.run()
    return Plan.of([*operations, *population.made])


def _advertisements(publishers: list[Publisher], lang: Lang) -> list[AnyOperation]:
    ids = count(1)
    return [
        Advertise(phase="warm", at_ms=5, client=publisher.client, adv=f"a{next(ids)}", filter=advertised, lang=lang)
        for publisher in publishers
        for advertised in publisher.advertised
    ]


def _subscriptions(load: Load, subscribers: list[str], lang: Lang, interests: Interests) -> list[Subscribe]:
    step_ms = load.subscribe_s * 1000 / len(subscribers)
    return [
        Subscribe(
            phase="warm", at_ms=10 + int(step_ms * index), client=client, sub=f"s{index + 1}", filter=interests.draw(),
            lang=lang,
        )
        for index, client in enumerate(subscribers)
    ]  # fmt: skip


def _publications(
    load: Load, publishers: list[Publisher], lang: Lang, phase: str, publications: int, random: Random
) -> list[AnyOperation]:
    """Everybody's turn comes, in an order that varies."""
    made: list[AnyOperation] = []
    turn: list[Publisher] = []
    for at_ms in PROCESSES[load.arrivals](publications, load.rate_hz, random):
        if not turn:
            turn = random.sample(publishers, len(publishers))
        publisher = turn.pop()
        content = publisher.content()
        made.append(Publish(phase=phase, at_ms=round(at_ms, 3), client=publisher.client, content=content, lang=lang))
    return made
