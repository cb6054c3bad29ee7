"""The event loop of virtual time: everything at its time, and what has the same time in the order it was asked for."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from itertools import count
from typing import Any

EPOCH_NS = 946_684_800_000_000_000
"""When every simulated run begins, in the logs' time: 2000-01-01 00:00 UTC."""
START_NS = 1_000_000_000
"""What the clock that never jumps shows then; a session takes 0 for 'never'."""


class Kernel:
    def __init__(self) -> None:
        self.now = START_NS
        self.happened = 0
        self._events: list[tuple[int, int, Callable[..., None], tuple[Any, ...]]] = []
        self._tie = count()

    def at(self, when: int, what: Callable[..., None], *args: Any) -> None:
        heapq.heappush(self._events, (when, next(self._tie), what, args))

    def run(self, until: int, at_most: int) -> bool:
        """Let that many events happen; true when all up to that time have."""
        events, pop = self._events, heapq.heappop
        for done in range(at_most):
            if not events or events[0][0] > until:
                self.happened += done
                self.now = until
                return True
            self.now, _, what, args = pop(events)
            what(*args)
        self.happened += at_most
        return False


class VirtualClock:
    """A node's clock; while the node works, it is ahead of the kernel's."""

    def __init__(self, now: int) -> None:
        self.now = now

    def monotonic_ns(self) -> int:
        return self.now

    def wall_ns(self) -> int:
        return EPOCH_NS + self.now - START_NS


class Alarm:
    """Rings once, at the earliest time it was set to; rung too early, whoever is called sets it anew."""

    def __init__(self, kernel: Kernel, ring: Callable[[], None]) -> None:
        self._kernel = kernel
        self._ring = ring
        self._at: int | None = None

    def set(self, when: int) -> None:
        if self._at is None or when < self._at:
            self._at = when
            self._kernel.at(when, self._due, when)

    def _due(self, when: int) -> None:
        if self._at == when:
            self._at = None
            self._ring()
