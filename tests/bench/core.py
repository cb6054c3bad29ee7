"""A broker without sockets: what it does to a publication between the bytes that come and the bytes that go."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from random import Random
from typing import Protocol

from node.clock import SystemClock
from node.core.client import ClientState, Delivery
from node.core.items import Item
from node.core.messages import Deliver, Port, Publication, Publish, client_port
from node.core.schemes.base import Site
from node.core.schemes.registry import build
from node.core.session import Limits
from node.core.state import BrokerState
from node.drift import Drift
from node.journal import Journal, open_journal
from node.refusals import Refusals
from node.store import Store
from node.wire import WireCodec, decode_frame, encode_frames
from node.worker import Worker
from tests.bench.measure import Effort, Figure, Say, Section, per_second, race
from tests.bench.ways import MESSAGE_BYTES, content_of

BROKER = "b1"
Handle = Callable[[list[Item]], None]


class Between:
    """A publisher and a subscriber at one `BrokerState`; only the broker's part is on the clock."""

    def __init__(self) -> None:
        now = time.monotonic_ns()
        scheme = build("simple", Site(BROKER, (), Random(1), brokers=(BROKER,)), {})
        self.state = BrokerState(scheme, 1, WireCodec(), now, Limits())
        self.handle: Handle = self._handle
        self._content = content_of(MESSAGE_BYTES)
        self._clients: dict[Port, ClientState] = {}
        for name in ("pub", "sub"):
            client = self._clients[client_port(name)] = ClientState(name, 1, WireCodec(), Limits())
            client.attach(BROKER, now)
        self._publisher, self._subscriber = self._clients.values()
        self._subscriber.subscribe("s1", "price > 0")
        while self._subscriber.pending or not self._publisher.can_publish:
            self.exchange()

    def _handle(self, items: list[Item]) -> None:
        now = time.monotonic_ns()
        for item in items:
            self.state.handle(item, now)

    def publish(self) -> tuple[int, int]:
        """As many as credit allows, through the broker; returns how many, and the broker's nanoseconds."""
        count = 0
        while self._publisher.can_publish:
            self._publisher.publish(self._content)
            count += 1
        spent_ns = self.exchange()
        while self._publisher.pending or not self._publisher.can_publish:
            spent_ns += self.exchange()
        return count, spent_ns

    def exchange(self) -> int:
        now = time.monotonic_ns()
        arriving = [
            (port, data)
            for port, client in self._clients.items()
            for _, frame in client.transmit(now)
            for data in encode_frames(frame)
        ]
        started_at = time.thread_time_ns()
        for port, data in arriving:
            self.handle(self.state.receive(port, decode_frame(data), now))
        leaving = [(port, data) for port, frame in self.state.transmit(now) for data in encode_frames(frame)]
        spent_ns = time.thread_time_ns() - started_at
        for port, data in leaving:
            for event in self._clients[port].receive(BROKER, decode_frame(data), now):
                if isinstance(event, Delivery):
                    self._clients[port].consumed(BROKER)
        return spent_ns


def measure(effort: Effort, say: Say) -> Section:
    with tempfile.TemporaryDirectory(prefix="brokerlab-bench-") as folder:
        alone = Between()
        journal = open_journal(folder, BROKER, 1, time.time_ns)
        best = race(
            {
                "codec": per_second(codec_alone(), effort.run_s),
                "core": on_the_clock(alone, effort.run_s),
                "journal": on_the_clock(with_journal(Between(), journal, folder), effort.run_s),
            },
            effort,
        )
        journal.close()
    return Section(
        f"Core without sockets: {MESSAGE_BYTES}-byte publications, one publisher, one subscriber, scheme simple",
        [
            Figure("decode and encode alone", best["codec"], "publications/s"),
            Figure("BrokerState with sessions and frames", best["core"], "publications/s", best["codec"]),
            Figure("the same with queue and journal", best["journal"], "publications/s", best["codec"]),
        ],
    )


def codec_alone() -> Callable[[], int]:
    codec = WireCodec()
    publication = Publication("pub:100", "pub", 100, "attr", content_of(MESSAGE_BYTES))
    data = codec.encode(Publish(publication))

    def work() -> int:
        for _ in range(100):
            payload = codec.decode(data)
            assert isinstance(payload, Publish)
            codec.encode(Deliver(payload.publication, ("s1",)))
        return 100

    return work


class Timed(Protocol):
    def publish(self) -> tuple[int, int]: ...


def on_the_clock(timed: Timed, run_s: float) -> Callable[[], float]:
    """The rate by the broker's own time, not by that of the clients around it."""

    def run() -> float:
        done = spent_ns = 0
        until = time.perf_counter_ns() + round(run_s * 1e9)
        while time.perf_counter_ns() < until or not done:
            count, took_ns = timed.publish()
            done += count
            spent_ns += took_ns
        return done / spent_ns * 1e9

    return run


def with_journal(between: Between, journal: Journal, folder: str) -> Between:
    worker = Worker(between.state, journal, Refusals(), Store(folder, BROKER), SystemClock(), Drift())

    def handle(items: list[Item]) -> None:
        worker.put(items)
        while worker.queue:
            worker.work()
            journal.flush()

    between.handle = handle
    return between
