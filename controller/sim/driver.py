"""A driver in virtual time; its clients take no time for what they do."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Protocol

from controller.sim.disk import Log
from controller.sim.kernel import Alarm, Kernel, VirtualClock
from controller.sim.settings import Settings
from node.cast import LIMITS, Absence, Cast
from node.core.errors import PeerError
from node.core.schemes.base import Scheme
from node.core.session import Frame
from node.journal import Journal
from node.plan import Plan


class Wire(Protocol):
    def from_client(self, client: str, broker: str, frame: Frame[bytes]) -> None: ...


class SimDriver:
    def __init__(
        self,
        kernel: Kernel,
        wire: Wire,
        node: str,
        plan: Plan,
        scheme: type[Scheme],
        brokers: Collection[str],
        log: Log,
        settings: Settings,
    ) -> None:
        self._kernel = kernel
        self._wire = wire
        self._clock = VirtualClock(kernel.now)
        journal = Journal(node, 1, self._clock.wall_ns, log)
        limits = settings.limits(LIMITS)
        self._cast = Cast(node, plan, scheme, brokers, journal, self._clock, {}, lambda _: None, limits)
        self._is_over = False
        self._soon = Alarm(kernel, self._turn)
        self._later = Alarm(kernel, self._turn)

    def arrive(self, client: str, broker: str, frame: Frame[bytes]) -> None:
        if self._is_over:
            return
        now = self._clock.now = self._kernel.now
        try:
            self._cast.take(client, broker, frame, now)
        except PeerError as error:
            self._cast.refuse("frames from brokers", error.what, f"from {broker}: {error.why}", now)
        self._soon.set(now)

    def _turn(self) -> None:
        if self._is_over:
            return
        now = self._clock.now = self._kernel.now
        for client, broker, frame in self._cast.turn(now):
            self._wire.from_client(client, broker, frame)
        if (due := self._cast.deadline()) is not None:
            self._later.set(max(due, now))

    def play(self, phase: str) -> dict[str, Any]:
        self._clock.now = self._kernel.now
        answer = self._cast.play(phase)
        self._soon.set(self._kernel.now)
        return answer

    def send_away(self, client: str, how: Absence) -> None:
        self._cast.leave(client, how)

    def call_back(self, client: str) -> None:
        self._clock.now = self._kernel.now
        self._cast.come_back(client, self._kernel.now)
        self._soon.set(self._kernel.now)

    def status(self) -> dict[str, Any]:
        return self._cast.status()

    def stop(self) -> None:
        """The orderly end."""
        if not self._is_over:
            self._is_over = True
            self._clock.now = self._kernel.now
            self._cast.close()
