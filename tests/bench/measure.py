"""How figures are taken: contestants take turns in short runs, and the best run of each counts."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import NamedTuple

Say = Callable[[str], None]


class Effort(NamedTuple):
    run_s: float
    repetitions: int
    filters: tuple[int, ...]
    many: tuple[int, ...]
    """How many filters, where an index is measured."""
    few: tuple[int, ...]
    narrow: tuple[int, ...]
    wide: tuple[int, ...]
    """How many, where its sizes are."""


FULL = Effort(
    run_s=0.3,
    repetitions=5,
    filters=(100, 1_000, 10_000),
    many=(1_000, 10_000, 100_000),
    few=(8, 16, 32, 64, 128, 256),
    narrow=(250, 500, 1_000, 2_000, 4_000),
    wide=(8_000, 16_000, 24_000, 32_000, 64_000),
)
QUICK = Effort(run_s=0.01, repetitions=1, filters=(20, 100), many=(50, 200), few=(8,), narrow=(100,), wide=(100,))


class Figure(NamedTuple):
    what: str
    value: float
    unit: str
    baseline: float | None = None
    """In the same unit; None for the baseline itself."""


class Section(NamedTuple):
    title: str
    figures: list[Figure]


def race(contestants: Mapping[str, Callable[[], float]], effort: Effort) -> dict[str, float]:
    """The best rate of each; turns alternate, so that a busy moment of the machine hits all of them."""
    best = dict.fromkeys(contestants, 0.0)
    for _ in range(effort.repetitions):
        for name, run in contestants.items():
            best[name] = max(best[name], run())
    return best


def per_second(work: Callable[[], int], run_s: float) -> Callable[[], float]:
    """A run that repeats `work`, which tells how much it did, and gives the rate.

    By this thread's processor time: what else the machine does meanwhile is not the work's fault.
    """

    def run() -> float:
        done = 0
        until = time.perf_counter_ns() + round(run_s * 1e9)
        started_at = time.thread_time_ns()
        while time.perf_counter_ns() < until or not done:
            done += work()
        return done / (time.thread_time_ns() - started_at) * 1e9

    return run


def percentile(values: list[int], share: float) -> int:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
