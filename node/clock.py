"""The two clocks of a node: one that logs share, one that never jumps. Time enters everything else as a parameter."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    def wall_ns(self) -> int: ...
    def monotonic_ns(self) -> int: ...


class SystemClock:
    def wall_ns(self) -> int:
        return time.time_ns()

    def monotonic_ns(self) -> int:
        return time.monotonic_ns()


def milliseconds_until(deadline_ns: int, now_ns: int) -> int:
    """How long to poll: rounded up, so that a wait is not followed by another one of no length."""
    return max(0, -((now_ns - deadline_ns) // 1_000_000))
