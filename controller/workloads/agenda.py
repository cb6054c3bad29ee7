"""What happens when during load, whoever thought of it: churn and movement change one and the same population."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from itertools import count

Act = Callable[[int], None]
"""Gets the time it happens at, in ms."""


class Agenda:
    """What is due at one time happens in the order it was noted."""

    def __init__(self, end_ms: float) -> None:
        self.end_ms = int(end_ms)
        self._numbers = count()
        self._waiting: list[tuple[int, int, Act]] = []

    def at(self, at_ms: float, act: Act) -> None:
        """What would come after the end comes at the end."""
        heapq.heappush(self._waiting, (min(int(at_ms), self.end_ms), next(self._numbers), act))

    def run(self) -> None:
        while self._waiting:
            at_ms, _, act = heapq.heappop(self._waiting)
            act(at_ms)
