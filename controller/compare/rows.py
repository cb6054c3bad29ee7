"""The measures: each a name, what it is for one run, and how people read it."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass

from controller.compare.model import Summary
from controller.text import clean, count, duration

NOTHING = "–"
Value = str | int | float | None


@dataclass(frozen=True)
class Measure:
    key: str
    title: str
    of: Callable[[Summary], Value]
    written: Callable[[float], str] = count

    def text(self, summary: Summary) -> str:
        value = self.of(summary)
        if value is None or value == "":
            return NOTHING
        return clean(value) if isinstance(value, str) else self.written(value)


def _fact(name: str) -> Callable[[Summary], Value]:
    def read(summary: Summary) -> Value:
        value = summary.data.run.get(name)
        return value if isinstance(value, (str, int)) and not isinstance(value, bool) else None

    return read


def _counted(name: str) -> Callable[[Summary], Value]:
    return lambda summary: summary.data.counts.get(name)


def _delay(name: str) -> Callable[[Summary], Value]:
    """In ns; from the intended time of sending, so that a publisher held back does not hide the wait."""
    return lambda summary: summary.data.delay_total.get(name)


def _publication_hops(summary: Summary) -> Value:
    return summary.sent("publication")


def _control_messages(summary: Summary) -> Value:
    if summary.kinds is None or not summary.tells_control:
        return None
    return sum(number for kind, number in summary.kinds.items() if kind != "publication")


def table_sizes(summary: Summary) -> list[int]:
    """The largest table that each broker had while it was sampled."""
    sampled = {
        node: [point.table for point in points if point.depth_max is not None]
        for node, points in summary.data.queue.items()
    }
    return [max(sizes) for sizes in sampled.values() if sizes]


def _table_mean(summary: Summary) -> Value:
    sizes = table_sizes(summary)
    return statistics.fmean(sizes) if sizes else None


def _table_max(summary: Summary) -> Value:
    return max(table_sizes(summary), default=None)


def _excused(summary: Summary) -> Value:
    return sum(check.excused for check in summary.data.checks) if summary.data.checks else None


def _violations(summary: Summary) -> Value:
    return sum(check.violations for check in summary.data.checks) if summary.data.checks else None


def _fault_s(summary: Summary) -> Value:
    """From the first fault's beginning to the last one's end, overlaps counted once."""
    ends = sorted((fault.apply_t, fault.heal_t or summary.data.end_t) for fault in summary.data.faults)
    total, until = 0, 0
    for start, end in ends:
        total += max(0, end - max(start, until))
        until = max(until, end)
    return total


def _deepest(summary: Summary) -> Value:
    depths = [point.depth_max for points in summary.data.queue.values() for point in points]
    return max((depth for depth in depths if depth is not None), default=None)


def _run_time(summary: Summary) -> Value:
    return summary.data.span_ns if summary.data.span_known else None


def _mean(value: float) -> str:
    return f"{value:,.1f}"


MEASURES: tuple[Measure, ...] = (
    Measure("verdict", "verdict", lambda summary: summary.data.verdict),
    Measure("runtime", "runtime", _fact("runtime")),
    Measure("scheme", "scheme", _fact("scheme")),
    Measure("topology", "topology", _fact("topology")),
    Measure("seed", "seed", _fact("seed"), lambda seed: f"{seed:g}" if seed < 1e6 else str(int(seed))),
    Measure("brokers", "brokers", _counted("brokers")),
    Measure("subscriptions", "subscriptions", _counted("subscriptions")),
    Measure("publications", "publications", _counted("publications")),
    Measure("deliveries", "deliveries", _counted("deliveries")),
    Measure("pairs_required", "required pairs", _counted("pairs_required")),
    Measure("violations", "violations", _violations),
    Measure("excused", "excused losses", _excused),
    Measure("publication_hops", "publication hops", _publication_hops),
    Measure("control_messages", "control messages", _control_messages),
    Measure("table_mean", "table entries, mean", _table_mean, _mean),
    Measure("table_max", "table entries, max", _table_max),
    Measure("queue_max", "deepest queue", _deepest),
    Measure("delay_p50_ns", "delay, median", _delay("p50_ns"), duration),
    Measure("delay_p90_ns", "delay, p90", _delay("p90_ns"), duration),
    Measure("delay_p99_ns", "delay, p99", _delay("p99_ns"), duration),
    Measure("delay_max_ns", "delay, max", _delay("max_ns"), duration),
    Measure("faults", "faults", lambda summary: summary.data.faults_total),
    Measure("fault_ns", "time under faults", _fault_s, duration),
    Measure("run_ns", "run time", _run_time, duration),
)
