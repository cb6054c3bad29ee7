"""Whether this machine could keep its promises: a host that is too busy makes faults of its own, and tells nobody."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

POLL_S = 0.2
LAG_S_MAX = 2.0
"""A controller that was kept waiting for longer did not apply and heal faults when it says it did."""
BROKER_LAG_S_MAX = 2.5
"""As long as brokers wait until they take a neighbour's silence for an absence."""
STEAL_MAX = 0.3
"""The share of processor time that the machine's own host may take away if that kept anybody waiting."""
STOLEN_LAG_S_MAX = 0.5
"""So long a wait says that it did. A shared machine often has a third stolen and keeps all its promises."""

_STAT = Path("/proc/stat")
_STEAL = 7


class HostWatch:
    """Looks at the machine while a run goes on."""

    def __init__(self) -> None:
        self.lag_s_max = 0.0
        self.steal = 0.0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="host-watch", daemon=True)

    def __enter__(self) -> Self:
        self._before = _ticks()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()
        self.steal = _share(self._before, _ticks())

    def _watch(self) -> None:
        while not self._over.is_set():
            due = time.monotonic() + POLL_S
            self._over.wait(POLL_S)
            self.lag_s_max = max(self.lag_s_max, time.monotonic() - due)

    def facts(self) -> dict[str, float]:
        return {"lag_s_max": round(self.lag_s_max, 3), "steal": round(self.steal, 3)}

    def doubts(self) -> list[str]:
        found = []
        if self.lag_s_max > LAG_S_MAX:
            found.append(f"this machine was too busy: the controller was kept waiting for {self.lag_s_max:.1f} s")
        if self.steal > STEAL_MAX and self.lag_s_max > STOLEN_LAG_S_MAX:
            found.append(f"this machine was too busy: its host took {self.steal:.0%} of its processors away")
        return found


def slow_brokers(statuses: dict[str, dict[str, Any] | None], hit: set[str]) -> list[str]:
    """Brokers that stood still for longer than a fault explains; those that a fault hit may."""
    return [
        f"this machine was too busy: {name} stood still for {status['lag_ns_max'] / 1e9:.1f} s, and no fault hit it"
        for name, status in statuses.items()
        if status is not None and name not in hit and status["lag_ns_max"] / 1e9 > BROKER_LAG_S_MAX
    ]


def _ticks() -> list[int]:
    try:
        return [int(part) for part in _STAT.read_text().splitlines()[0].split()[1:]]
    except (OSError, ValueError, IndexError):
        return []


def _share(before: list[int], now: list[int]) -> float:
    passed = [later - earlier for earlier, later in zip(before, now, strict=False)]
    return passed[_STEAL] / sum(passed) if len(passed) > _STEAL and sum(passed) > 0 else 0.0
