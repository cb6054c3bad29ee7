"""A simulated network beside a bare event loop: events a second, and messages that its brokers handle in a second."""

from __future__ import annotations

import heapq
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random

from msgspec import structs

from controller.campaigns import model, run
from controller.progress import PlainProgress
from controller.sim import cluster
from controller.topology import Broker, Link, Topology
from node.journal import Level
from tests.bench.measure import QUICK, Effort, Figure, Say, Section, race

SCHEME = "covering-active"
LEVELS: tuple[Level, ...] = ("all", "publications", "deliveries")
BARE_EVENTS = 200_000


class _Silence:
    def write(self, text: str) -> int:
        return len(text)

    def flush(self) -> None:
        pass


def tree(brokers: int) -> Topology:
    """A random one, the same every time."""
    random = Random(1)
    names = [f"b{number}" for number in range(1, brokers + 1)]
    links = tuple(Link(names[random.randrange(place)], names[place]) for place in range(1, brokers))
    return Topology("random-tree", "", tuple(Broker(name, "inner", name) for name in names), links)


def measure(effort: Effort, say: Say) -> Section:
    brokers, load_s = (5, 1) if effort == QUICK else (30, 3)
    bare_events = 1_000 if effort == QUICK else BARE_EVENTS
    handled: dict[str, float] = {}

    def simulate(level: Level) -> float:
        events, messages = simulated(brokers, load_s, level)
        handled[level] = max(messages, handled.get(level, 0.0))
        return events

    best = race({"bare": partial(bare, bare_events), **{level: partial(simulate, level) for level in LEVELS}}, effort)
    return Section(
        f"Simulator: {brokers} brokers, scheme {SCHEME}, {load_s} s of load at 100 publications/s; one core",
        [
            Figure("bare heapq loop", best["bare"], "events/s"),
            *(Figure(f"simulated network, log: {level}", best[level], "events/s", best["bare"]) for level in LEVELS),
            *(
                Figure(f"messages handled by its brokers, log: {level}", handled[level], "messages/s", best["bare"])
                for level in ("all", "deliveries")
            ),
        ],
    )


def bare(count: int) -> float:
    """A loop that does nothing but keep the order of as many events as a network of this size has under way."""
    random = Random(1)
    events: list[tuple[int, int, Callable[..., None], tuple[int, ...]]] = []

    def nothing(number: int) -> None:
        pass

    for number in range(500):
        heapq.heappush(events, (random.randrange(10**6), number, nothing, (number,)))
    delays = [random.randrange(10**6) for _ in range(1_000)]
    started_at = time.thread_time_ns()
    for number in range(count):
        now, _, what, args = heapq.heappop(events)
        what(*args)
        heapq.heappush(events, (now + delays[number % 1_000], number + 500, nothing, (number,)))
    return count / (time.thread_time_ns() - started_at) * 1e9


def simulated(brokers: int, load_s: int, level: Level) -> tuple[float, float]:
    """Events and handled messages per second of processor time, from the first broker's start on."""
    settings = {"scheme": SCHEME, "phases.load_s": str(load_s), "workload.rate_hz": "100", "faults": "[]"}
    settings |= {"workload.clients": str(brokers), "workload.subscriptions": str(2 * brokers), "log": level}
    (one,) = model.runs(model.load("smoke", settings))
    one = structs.replace(one, topology=tree(brokers))
    with tempfile.TemporaryDirectory(prefix="brokerlab-bench-") as folder:
        spec = structs.replace(run.cluster_spec(one, "sim", ("bench",)), directory=Path(folder) / "run")
        started_at = time.thread_time_ns()
        net = cluster.up(spec, PlainProgress(_Silence()))  # type: ignore[arg-type]
        for phase, lasts_s in (("warm", 2), ("load", load_s), ("final", 1)):
            for driver in net.drivers:
                net.play(driver, phase)
            net.sleep(lasts_s)
        net.runtime.down()
        spent_ns = time.thread_time_ns() - started_at
        handled = sum(broker.handled for broker in net.runtime.brokers.values())
    return net.runtime.kernel.happened / spent_ns * 1e9, handled / spent_ns * 1e9
