"""A broker in virtual time: the same turns as a real one, each as long as the work in it is said to take."""

from __future__ import annotations

import traceback
from collections import deque
from collections.abc import Callable
from random import Random
from typing import Any, Protocol

from controller.sim.disk import Log, MemoryStore
from controller.sim.kernel import Alarm, Kernel, VirtualClock
from controller.sim.settings import Settings
from node.config import Config
from node.core.errors import InvariantViolation
from node.core.items import Item, Outcome
from node.core.messages import Port, Publish
from node.core.session import Frame, Limits
from node.core.state import CLIENT_SILENCE_NS, BrokerState
from node.errors import HostError
from node.journal import Journal
from node.probing import Probes
from node.refusals import Refusal
from node.shaping import MS, Line
from node.station import Station, build_scheme, clients_wait_ns
from node.strain import Strain
from node.wire import WireCodec, encode_frame

FRAMES_PER_TURN = 200
STALLED_NS = 50_000_000


# Of `performance.md`: an idle broker; an item with its share of sessions and frames.
IDLE_BYTES = 24 << 20
BYTES_PER_ITEM = 2_000


class Served(BrokerState):
    """Handling an item takes its time on the broker's clock, and none of the host's is ever looked at."""

    charge: Callable[[Item], None]

    def handle(self, item: Item, now: int) -> Outcome:
        outcome = super().handle(item, now)
        self.charge(item)
        return outcome


def _nobody(refusal: Refusal) -> None:
    """The log tells of it, and a simulated broker has no operator."""


class VirtualUsage:
    def __init__(self) -> None:
        self.busy_ns = 0

    def rss_bytes(self) -> int:
        return 0

    def cpu_ns(self) -> int:
        return self.busy_ns


class Wire(Protocol):
    """Carries frames; they arrive after a hop's time, if the line does not lose them and the sender lives."""

    def to_broker(self, sender: SimBroker, peer: str, line: Line, frame: Frame[bytes], due: int) -> None: ...
    def to_client(self, sender: SimBroker, client: str, frame: Frame[bytes]) -> None: ...


class SimBroker:
    def __init__(
        self, kernel: Kernel, wire: Wire, settings: Settings, config: Config, inc: int, store: MemoryStore, log: Log
    ) -> None:
        self.name = config.node
        self.inc = inc
        self.is_paused = False
        self.story: list[str] | None = None
        """Why it ended by itself."""
        self.frozen: list[tuple[Callable[..., None], tuple[Any, ...]]] = []
        """What it had under way when it was paused."""
        self._kernel = kernel
        self._wire = wire
        self._settings = settings
        self._clock = VirtualClock(kernel.now)
        self._usage = VirtualUsage()
        scheme = build_scheme(config, inc)
        silence_ns = clients_wait_ns(config, CLIENT_SILENCE_NS)
        limits = settings.limits(Limits())
        self._state = Served(scheme, inc, WireCodec(scheme.controls), kernel.now, limits, silence_ns)
        self._state.charge = self._charge
        chance = Random(f"{config.cluster}/{config.node}/{inc}/links")
        self.lines = {name: Line(link.shape, chance) for name, link in config.neighbours()}
        self._log = log
        journal = Journal(config.node, inc, self._clock.wall_ns, log)
        self._station = Station(config, self._state, journal, store, self._clock, self._usage, _nobody)
        self._inbox: deque[tuple[Port, Frame[bytes]]] = deque()
        self._is_busy = False
        self._is_over = False
        self.strain = Strain()
        self.probes = Probes()
        self._soon = Alarm(kernel, self._turn)
        self._later = Alarm(kernel, self._turn)
        self._soon.set(kernel.now)

    @property
    def is_alive(self) -> bool:
        return not self._is_over

    def _charge(self, item: Item) -> None:
        settings = self._settings
        work_us = settings.publication_us if isinstance(item.what, Publish) else settings.control_us
        if settings.entry_us:
            work_us += settings.entry_us * self._state.scheme.size()
        work_ns = round(work_us * 1_000 / self.strain.cpu_share)
        self._clock.now += work_ns
        self._usage.busy_ns += round(work_us * 1_000)

    def arrive(self, port: Port, frame: Frame[bytes]) -> None:
        self._inbox.append((port, frame))
        if not self._is_busy:
            self._soon.set(self._kernel.now)

    def _turn(self) -> None:
        if self._is_busy or self.is_paused or self._is_over:
            return
        now = self._clock.now = self._kernel.now
        inbox = self._inbox
        try:
            for _ in range(0 if self._station.is_stalled else min(len(inbox), FRAMES_PER_TURN)):
                port, frame = inbox.popleft()
                if not self.strain.isolated and (not port.is_broker or not self.lines[port.name].shape.deaf):
                    self._station.take(port, frame, now)
            self._station.work(now)
        except InvariantViolation as violation:
            self._end_by_itself([f"invariant broken: {violation}"])
            return
        except Exception as error:  # noqa: BLE001 - here a broker's process would end, whatever a scheme did wrong
            self._end_by_itself([*traceback.format_exc().splitlines(), f"{type(error).__name__}: {error}"])
            return
        if self.strain.memory_mb is not None and self.memory_bytes() > self.strain.memory_mb << 20:
            self._end_by_itself([f"out of memory: {self.memory_bytes() >> 20} MB"])
            return
        if self._clock.now == now:
            self._finish()
        else:
            self._is_busy = True
            self._kernel.at(self._clock.now, self._finish)

    def _finish(self) -> None:
        """The work of the turn is done: only now it is told and sent, so a broker killed in between did neither."""
        if self._is_over or self.is_paused:
            return
        self._is_busy = False
        now = self._clock.now = self._kernel.now
        for port, frame in self._station.send():
            if port.is_broker:
                line = self.lines[port.name]
                size = 0 if line.shape.rate_kbps is None else len(encode_frame(frame))
                for arrives_at in line.due(size, now) if not self.strain.isolated else ():
                    self._wire.to_broker(self, port.name, line, frame, arrives_at)
            elif not self.strain.isolated:
                self._wire.to_client(self, port.name, frame)
        if self._station.is_stalled:
            self._later.set(now + STALLED_NS)
        elif self._inbox or self._station.worker.queue:
            self._soon.set(now)
        elif (due := self._station.deadline()) is not None:
            self._later.set(max(due, now))

    def pause(self) -> None:
        self.is_paused = True

    def resume(self) -> None:
        self.is_paused = False
        for what, args in self.frozen:
            what(*args)
        self.frozen.clear()
        if self._is_busy:
            self._kernel.at(max(self._clock.now, self._kernel.now), self._finish)
        else:
            self._soon.set(self._kernel.now)

    def kill(self) -> None:
        self._is_over = True
        self._log.close()

    def _end_by_itself(self, story: list[str]) -> None:
        self.story = story
        self.kill()

    def stop(self) -> None:
        """The orderly end."""
        if self._is_over:
            return
        self._clock.now = max(self._clock.now, self._kernel.now)
        try:
            self._station.close()
        except InvariantViolation as violation:
            self._end_by_itself([f"invariant broken: {violation}"])
        except HostError as error:
            # A real broker complains, and ends with what of its log found room.
            self._end_by_itself([str(error)])
        self._is_over = True

    def put_under(self, strain: Strain) -> None:
        now = self._kernel.now
        if (strain.clock_rate, strain.clock_ahead_ms) != (self.strain.clock_rate, self.strain.clock_ahead_ms):
            self._station.drift.change(strain.clock_rate, round(strain.clock_ahead_ms * MS), now)
        self._log.is_full = strain.disk_full
        self.strain = strain
        self._soon.set(now)

    def leave(self) -> None:
        self._station.leave()
        self._soon.set(self._kernel.now)

    def memory_bytes(self) -> int:
        """An idle broker's, and what it holds: as many bytes as are in its queues, and as many again around them."""
        return IDLE_BYTES + BYTES_PER_ITEM * (len(self._inbox) + len(self._station.worker.queue) + self._state.unacked)

    @property
    def handled(self) -> int:
        return self._station.worker.handled

    def status(self) -> dict[str, Any] | None:
        if self.is_paused or self._is_over:
            return None
        self._clock.now = max(self._clock.now, self._kernel.now)
        limit_mb = self.strain.memory_mb
        return {
            **self._station.status(),
            "links": {peer: self._station.link(peer, line.shape) for peer, line in self.lines.items()},
            "cpu_share": float(self.strain.cpu_share),
            "memory_limit": None if limit_mb is None else limit_mb << 20,
        }
