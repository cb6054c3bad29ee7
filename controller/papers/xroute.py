"""XROUTE §6: how large routing tables become, with and without aggregation, as the population of consumers grows.

The real schemes run on the transit-stub network; subscriptions are registered one after the other, and at each size of
the population the tables of all routers are looked at. A set of n subscriptions is the first n of the largest set.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from multiprocessing import get_context
from queue import Empty
from random import Random
from typing import Literal, Protocol

from msgspec import Struct, structs

from controller import topology as topologies
from controller.errors import BrokerlabError
from controller.papers.overlay import Overlay
from controller.progress import Progress
from controller.topology import Topology
from controller.topology.generators import GENERATORS
from controller.workloads.news import dtd, patterns
from controller.workloads.news.documents import Writer

Kind = Literal["unique", "multiple"]
KINDS: tuple[Kind, ...] = ("unique", "multiple")
XROUTE, SIMPLE, MATCH_FIRST = "xroute", "simple-directed", "match-first"
SCHEMES = (XROUTE, SIMPLE, MATCH_FIRST)
NOT_INNER = ("consumer", "producer")
SIZES = (100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000)
SMALL_SIZES = (50, 100, 200)
OVERLAY_SEEDS = (1, 2, 3, 4, 5, 6)
HEIGHTS_MIN = (2, 4, 7, 10)
VARIED_SUBSCRIPTIONS = 5_000
POLL_S = 0.5
PUBLISHED, ELEMENTS = 20, 100


class Setting(Struct, frozen=True):
    sizes: tuple[int, ...] = SIZES
    topology: str = "xroute-89"
    overlay_seed: int | None = None
    """Another overlay of the same model in place of the topology."""
    patterns: patterns.Settings = patterns.Settings(h_min=7)
    seed: int = 1


class Task(Struct, frozen=True):
    setting: Setting
    kind: Kind
    scheme: str


class Sizes(Struct, frozen=True):
    """Of the routing tables at inner nodes, at one size of the population."""

    kind: Kind
    scheme: str
    subscriptions: int
    mean: float
    maximum: int


class Variation(Struct, frozen=True):
    """One thing is otherwise than in the experiment, and the population is smaller."""

    what: str
    setting: Setting


class Varied(Struct, frozen=True):
    what: str
    xroute: Sizes
    simple: Sizes


class Told(Protocol):
    """Where a worker says how far it is."""

    def put(self, note: tuple[str, int]) -> None: ...


def run(setting: Setting, progress: Progress) -> list[Sizes]:
    """Raises BrokerlabError if a scheme routed wrongly."""
    tasks = [Task(setting, kind, scheme) for scheme, kind in product(SCHEMES, KINDS)]
    return [one for sizes in _measured(tasks, "registering", progress) for one in sizes]


def variations(setting: Setting, subscriptions: int = VARIED_SUBSCRIPTIONS) -> list[Variation]:
    """What the paper leaves open, or cannot be had: its overlay, and how tall its patterns are."""
    fewer = structs.replace(setting, sizes=(subscriptions,))
    overlays = [Variation(f"overlay {seed}", structs.replace(fewer, overlay_seed=seed)) for seed in OVERLAY_SEEDS]
    heights = [
        Variation(f"h_min {h_min}", structs.replace(fewer, patterns=structs.replace(setting.patterns, h_min=h_min)))
        for h_min in HEIGHTS_MIN
        if h_min != setting.patterns.h_min
    ]
    return [Variation("as above", fewer), *overlays, *heights]


def vary(varied: Sequence[Variation], progress: Progress) -> list[Varied]:
    """With multiple sets, as the paper's maxima are."""
    tasks = [Task(one.setting, "multiple", scheme) for one in varied for scheme in (XROUTE, SIMPLE)]
    measured = iter(_measured(tasks, "varying", progress))
    return [Varied(one.what, next(measured)[-1], next(measured)[-1]) for one in varied]


def _measured(tasks: Sequence[Task], title: str, progress: Progress) -> list[list[Sizes]]:
    # Forked, not spawned: the workers need what is loaded already, and start at once.
    context = get_context("fork")
    total = sum(task.setting.sizes[-1] for task in tasks)
    with context.Manager() as manager, progress.bar(title, total) as bar:
        told = manager.Queue()
        with ProcessPoolExecutor(min(len(tasks), os.cpu_count() or 1), context) as pool:
            futures = [pool.submit(measure, task, told) for task in tasks]
            done = 0
            while not all(future.done() for future in futures):
                try:
                    note, count = told.get(timeout=POLL_S)
                except Empty:
                    continue
                done += count
                bar.to(done, note)
        return [future.result() for future in futures]


def measure(task: Task, told: Told | None = None) -> list[Sizes]:
    """One scheme with one set, from no subscription to the largest population."""
    setting = task.setting
    texts = subscriptions(task.kind, setting)
    population = Population(task.scheme, _overlay(setting), Random(f"{setting.seed}/consumers"))
    measured: list[Sizes] = []
    for before, size in zip((0, *setting.sizes), setting.sizes, strict=False):
        for text in texts[before:size]:
            population.register(text)
        measured.append(Sizes(task.kind, task.scheme, size, *population.table_sizes()))
        if told is not None:
            told.put((f"{size:,} {task.kind} subscriptions, {task.scheme}", size - before))
    writer = Writer(dtd.news(), ELEMENTS, setting.patterns.theta, Random(f"{setting.seed}/documents"))
    population.check([writer.document() for _ in range(PUBLISHED)])
    return measured


def _overlay(setting: Setting) -> Topology:
    if setting.overlay_seed is None:
        return topologies.load(setting.topology)
    transit_stub = GENERATORS["transit-stub"]
    # As the ready topology was made.
    fixed = {"transit_stub_links": 4, "stub_stub_links": 4, "consumers": 24, "producers": 1}
    return transit_stub.make(transit_stub.Parameters(seed=setting.overlay_seed, **fixed))


def subscriptions(kind: Kind, setting: Setting) -> list[str]:
    count = setting.sizes[-1]
    return patterns.patterns(dtd.news(), setting.patterns, count, kind == "unique", Random(f"{setting.seed}/{kind}"))


class Population:
    """Consumers at the consumer nodes, one producer, and the routers in between."""

    def __init__(self, scheme: str, topology: Topology, random: Random) -> None:
        links = [(link.a, link.b, link.weight) for link in topology.links]
        self._net = Overlay(scheme, topology.broker_names, links)
        self._random = random
        self._routers = [broker.name for broker in topology.brokers if broker.role not in NOT_INNER]
        self._consumers = [broker.name for broker in topology.brokers if broker.role == "consumer"]
        (producer,) = (broker.name for broker in topology.brokers if broker.role == "producer")
        for consumer in self._consumers:
            self._net.attach(f"at {consumer}", consumer)
        self._net.attach("producer", producer)
        self._net.advertise("producer", "a", "//*", "xpath")
        self._net.drain()

    def register(self, text: str) -> None:
        client = f"at {self._random.choice(self._consumers)}"
        self._net.subscribe(client, f"s{len(self._net.wanted)}", text, "xpath")
        self._net.drain()

    def table_sizes(self) -> tuple[float, int]:
        """Mean and maximum over the inner nodes."""
        sizes = [self._net.schemes[router].size() for router in self._routers]
        return sum(sizes) / len(sizes), max(sizes)

    def check(self, published: Sequence[str]) -> None:
        """Tables that route wrongly are not worth comparing."""
        for number, document in enumerate(published):
            msg = f"m{number}"
            self._net.publish("producer", msg, document, "xpath")
            self._net.drain()
            wanted = {client for client, filter in self._net.wanted.values() if filter.matches(document)}
            delivered = self._net.delivered[msg]
            if sorted(wanted) != sorted(delivered):
                raise BrokerlabError(f"document {number} went to {sorted(delivered)}, not to {sorted(wanted)}")
