"""How many operations of which kind there are, and when."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from controller.workloads.plans import PHASES, Operation, Plan

BUCKETS = 40
BARS = "▁▂▃▄▅▆▇█"
NOTHING = "·"


class Row(Struct, frozen=True):
    phase: str
    operation: str
    count: int
    seconds: float
    """From the beginning of the phase to its last operation."""
    over_time: tuple[int, ...]
    """In equal parts of those seconds."""

    @property
    def sparkline(self) -> str:
        return sparkline(self.over_time)


def rows(plan: Plan) -> list[Row]:
    by_phase: dict[str, list[Operation]] = {}
    for one in plan.operations:
        by_phase.setdefault(one.phase, []).append(one)
    made = []
    for phase in (*PHASES, *(phase for phase in by_phase if phase not in PHASES)):
        told = by_phase.get(phase, [])
        end_ms = max((one.at_ms for one in told), default=0)
        for name, times in _by_operation(told).items():
            made.append(Row(phase, name, len(times), round(end_ms / 1000, 3), _counts(times, end_ms)))
    return made


def sparkline(counts: Sequence[int]) -> str:
    """A bar for each; the highest is the greatest."""
    most = max(counts, default=0)
    return "".join(BARS[(count * len(BARS) - 1) // most] if count else NOTHING for count in counts)


def _by_operation(operations: list[Operation]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for one in operations:
        found.setdefault(str(one.__struct_config__.tag), []).append(one.at_ms)
    return dict(sorted(found.items(), key=lambda pair: pair[1][0]))


def _counts(times: list[float], end_ms: float) -> tuple[int, ...]:
    placed = Counter(min(BUCKETS - 1, int(at_ms / end_ms * BUCKETS)) if end_ms else 0 for at_ms in times)
    return tuple(placed[bucket] for bucket in range(BUCKETS if end_ms else 1))
