"""A broker without its doors: what one turn of its loop does between the frames that come and the frames that go.

The broker's shell puts sockets around it, the simulator a virtual wire.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import msgspec

from node.clock import Clock
from node.config import Config
from node.core import records
from node.core.messages import Port, broker_port
from node.core.schemes.base import Persist, Scheme
from node.core.schemes.registry import UnknownScheme, build
from node.core.session import Frame
from node.core.state import BrokerState
from node.core.wishes import Word
from node.drift import Drift
from node.errors import ConfigError
from node.journal import Journal
from node.refusals import Refusal, Refusals
from node.shaping import Shape
from node.site import build_site
from node.store import Keeper
from node.version import VERSION
from node.worker import Worker

SAMPLE_NS = 500_000_000
STRANGERS_BACK_WITHIN_NS = 10_000_000_000
_CLIENTS = "station.clients"


class Usage(Protocol):
    """What the broker uses of its machine."""

    def rss_bytes(self) -> int: ...
    def cpu_ns(self) -> int: ...


def build_scheme(config: Config, inc: int) -> Scheme:
    try:
        return build(config.scheme, build_site(config, inc), config.parameters)
    except UnknownScheme as error:
        raise ConfigError(str(error)) from None


def clients_wait_ns(config: Config, strangers_ns: int) -> int:
    return strangers_ns if config.clients_wait_s is None else round(config.clients_wait_s * 1e9)


class Station:
    def __init__(
        self,
        config: Config,
        state: BrokerState,
        journal: Journal,
        store: Keeper,
        clock: Clock,
        usage: Usage,
        warn: Callable[[Refusal], None],
    ) -> None:
        self.state = state
        self._node = config.node
        self._journal = journal
        self._clock = clock
        self._usage = usage
        self._refusals = Refusals()
        self._warn = warn
        self._samples = config.log != "deliveries"
        self._sample_at = clock.monotonic_ns()
        self._clients_back_within_ns = clients_wait_ns(config, STRANGERS_BACK_WITHIN_NS)
        self._store = store
        self._restore(store.load())
        journal.add(records.Open, role="broker", version=VERSION, scheme=state.scheme.name)
        journal.flush()
        self.drift = Drift()
        self.worker = Worker(state, journal, self._refusals, store, clock, self.drift, config.log)
        self.is_stalled = False
        """The log takes nothing more: until it does, nothing is handled and nothing is sent."""
        self.lag_ns_max = 0
        self._is_leaving = False

    def _restore(self, kept: dict[str, bytes]) -> None:
        words = kept.pop(_CLIENTS, b"")
        self.state.scheme.restore(kept)
        if words:
            now = self._clock.monotonic_ns()
            clients = msgspec.json.decode(words, type=list[Word])
            taken_up = self.state.expect(clients, now, now + self._clients_back_within_ns)
            self._store.append([*taken_up.persist, Persist(_CLIENTS, b"")])

    def take(self, port: Port, frame: Frame[bytes], now: int) -> None:
        self.worker.put(self.state.receive(port, frame, self.drift.at(now)))

    def refuse(self, kind: str, what: str, why: str, now: int) -> None:
        self._refusals.note(kind, what, why, now)

    def work(self, now: int) -> None:
        """Handle a batch of what was taken."""
        if self.is_stalled:
            return
        self.worker.put(self.state.tick(self.drift.at(now)))
        self.worker.work()
        self._tell_refusals(now)
        self._sample(now)

    def send(self) -> list[tuple[Port, Frame[bytes]]]:
        """What is to be sent now; why, is in the log by then: what a killed broker sent, its log tells."""
        self.is_stalled = not self._journal.flush()
        if self.is_stalled:
            return []
        return self.state.transmit(self.drift.at(self._clock.monotonic_ns()))

    def leave(self) -> None:
        self._is_leaving = True
        self.state.leave()

    @property
    def has_left(self) -> bool:
        """Asked to leave, and ready to end without taking anything along."""
        now = self.drift.at(self._clock.monotonic_ns())
        return self._is_leaving and not self.worker.queue and not self.is_stalled and self.state.has_left(now)

    def deadline(self) -> int | None:
        """When the next turn is due at the latest, if nothing arrives and nothing waits in the queue."""
        due = self.state.deadline()
        if due is not None:
            due = self.drift.until(due)
        return self._sample_at if due is None else min(due, self._sample_at)

    def close(self) -> None:
        """The orderly end; who was asked to leave before leaves word of its clients for its successor."""
        self.state.scheme.check()
        if self._is_leaving:
            self._store.append([Persist(_CLIENTS, msgspec.json.encode(self.state.words))])
        self._tell_refusals(self._clock.monotonic_ns(), final=True)
        self._journal.add(records.Close)
        self._journal.close()

    def _tell_refusals(self, now: int, final: bool = False) -> None:
        for refusal in self._refusals.take(now, final):
            self._journal.add(records.Refuse, what=refusal.what, why=refusal.why)
            self._warn(refusal)

    def _sample(self, now: int) -> None:
        """Also without a word of it: how long the loop stood still is asked for in any case."""
        if now < self._sample_at:
            return
        if self._samples:
            self._journal.add(
                records.Sample,
                queue=len(self.worker.queue),
                table=self.state.scheme.size(),
                unacked=self.state.unacked,
                rss=self._usage.rss_bytes(),
                cpu_ns=self._usage.cpu_ns(),
                lag_ns=now - self._sample_at,
            )
        self.lag_ns_max = max(self.lag_ns_max, now - self._sample_at)
        self._sample_at = now + SAMPLE_NS

    def status(self) -> dict[str, Any]:
        state, worker = self.state, self.worker
        waiting_for = state.waiting_for()
        queue, unacked = len(worker.queue), state.unacked
        return {
            "node": self._node,
            "inc": state.inc,
            "scheme": state.scheme.name,
            "ready": not waiting_for,
            "waiting_for": waiting_for,
            "idle": not (queue or unacked or state.unsettled),
            "queue": queue,
            "table": state.scheme.size(),
            "unacked": unacked,
            "accepted": worker.accepted,
            "handled": worker.handled,
            "forwarded": worker.forwarded,
            "stalled": self.is_stalled,
            "left": self.has_left,
            "clock_ns": self.drift.at(self._clock.monotonic_ns()),
            "lag_ns_max": self.lag_ns_max,
        }

    def link(self, peer: str, shape: Shape) -> dict[str, Any]:
        """A link as `status` tells it."""
        return {
            "state": self.worker.links.get(peer, "down"),
            "inc": self.state.sessions[broker_port(peer)].peer_inc,
            **{name: getattr(shape, name) for name in shape.__struct_fields__},
        }
