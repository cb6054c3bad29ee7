"""What the drawing needs to show any moment of the run: link loads, queues and faults in equal bins of time."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from controller.audit.report.model import RunData

BINS_MAX = 240
BINS_MIN = 20
# Together with the bins this bounds what a run of any size and length adds to the page.
CELLS_MAX = 150_000


def replay(data: RunData) -> dict[str, Any] | None:
    """None if nothing changes over time, or there is nothing to draw it on."""
    if not data.brokers or not data.span_known or not (data.link_load or data.queue or data.faults):
        return None
    known = {broker.name for broker in data.brokers}
    rows = len(data.link_load) + len(data.queue)
    bins = max(BINS_MIN, min(BINS_MAX, CELLS_MAX // max(1, rows), _buckets(data)))
    links = {pair: _binned(points, data, bins, sum) for pair, points in data.link_load.items() if known >= set(pair)}
    queues = {
        node: _binned(((point.t, round(point.depth_max or 0)) for point in points), data, bins, max)
        for node, points in data.queue.items()
        if node in known
    }
    return {
        "bins": bins,
        "span": data.span_ns / 1e9,
        "links": [[a, b, counts] for (a, b), counts in links.items()],
        "queues": [[node, depths] for node, depths in queues.items()],
        "faults": [
            {
                "target": fault.target,
                "label": fault.label,
                "from": _place(fault.apply_t, data),
                "to": 1.0 if fault.heal_t is None else _place(fault.heal_t, data),
            }
            for fault in data.faults
        ],
        "phases": [
            {"name": phase.name, "from": _place(phase.start_t, data), "to": _place(phase.end_t or data.end_t, data)}
            for phase in data.phases
        ],
    }


def _buckets(data: RunData) -> int:
    """As many as the audit made: between finer bins the picture would go dark."""
    times = {t for points in data.link_load.values() for t, _ in points}
    times |= {point.t for points in data.queue.values() for point in points}
    gaps = sorted(later - earlier for earlier, later in pairwise(sorted(times)))
    return -(-data.span_ns // gaps[len(gaps) // 2]) if gaps else BINS_MAX


def _binned(points: Iterable[tuple[int, int]], data: RunData, bins: int, merge: Any) -> list[int]:
    found: list[list[int]] = [[] for _ in range(bins)]
    for t, value in points:
        found[min(bins - 1, max(0, (t - data.start_t) * bins // data.span_ns))].append(value)
    return [merge(values) if values else 0 for values in found]


def _place(t: int, data: RunData) -> float:
    return round(min(1.0, max(0.0, (t - data.start_t) / data.span_ns)), 5)
