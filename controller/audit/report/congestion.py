"""The charts of delay and queues, and the numbers beside them."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from markupsafe import Markup

from controller.audit.report.charts import Band, Plot, Points, Series, bar_chart, line_chart, sparkline
from controller.audit.report.model import DelayPoint, QueuePoint, RunData
from controller.audit.report.scales import TimeAxis, counts_scale, durations_scale
from controller.text import NS_PER_S, count, duration, natural

MULTIPLES_MAX = 8
TABLE_ROWS_MAX = 250
QUANTILES = (("p50", "median"), ("p90", "p90"), ("p99", "p99"), ("max", "max"))


@dataclass(frozen=True)
class Chart:
    """Pictures over the same buckets, and what the cursor reads from them."""

    id: str
    pictures: list[Markup]
    data: dict[str, Any]


@dataclass(frozen=True)
class QueueRow:
    node: str
    depth: int
    wait: str
    busy: str
    handled: int
    table: int
    unacked: int


@dataclass(frozen=True)
class Multiple:
    node: str
    depth: int
    svg: Markup


def delay_chart(data: RunData, axis: TimeAxis) -> Chart | None:
    """Percentiles above, deliveries per second below."""
    if not data.delay:
        return None
    bucket_ns = _bucket_ns([point.t for point in data.delay], axis)
    by_name: dict[str, Points] = {
        name: [(point.t, float(getattr(point, f"{name}_ns"))) for point in data.delay] for name, _ in QUANTILES
    }
    scale = durations_scale([value for points in by_name.values() for _, value in points])
    worst = max(data.delay, key=lambda point: point.p99_ns)
    plot = Plot(axis, data.faults, 240, bucket_ns, _delay_described(worst, axis))
    series = [Series(word, f"line-{name}", by_name[name]) for name, word in reversed(QUANTILES)]
    svg = line_chart(plot, scale, duration, series, Band("fill-delay", by_name["p50"], by_name["p99"]))
    rates = [(point.t, point.count * NS_PER_S / bucket_ns) for point in data.delay]
    rate_plot = Plot(axis, data.faults, 64, bucket_ns, "Deliveries per second over time")
    rate_svg = bar_chart(rate_plot, counts_scale([value for _, value in rates], 2), _number, rates)
    times = [point.t for point in data.delay]
    readings = [{"name": word, "unit": "ns", "values": _rounded(by_name[name])} for name, word in QUANTILES]
    rate_reading = {"name": "deliveries/s", "unit": "count", "values": _rounded(rates)}
    return Chart("delay", [svg, rate_svg], _readout(times, bucket_ns, axis, [*readings, rate_reading]))


def _delay_described(worst: DelayPoint, axis: TimeAxis) -> str:
    return (
        f"Delay percentiles over time on a logarithmic axis; the worst p99 was {duration(worst.p99_ns)}, "
        f"{duration(max(0, worst.t - axis.start_t))} after the start"
    )


def delay_tiles(total: dict[str, float]) -> list[tuple[str, str, str]]:
    """Name, delay from the intended sending time, delay from the actual one."""
    tiles = []
    for name, word in QUANTILES:
        corrected = _first(total, name, uncorrected=False)
        uncorrected = _first(total, name, uncorrected=True)
        if corrected is not None:
            tiles.append((word, duration(corrected), duration(uncorrected) if uncorrected is not None else ""))
    return tiles


def _first(total: dict[str, float], name: str, uncorrected: bool) -> float | None:
    names = [key for key in sorted(total) if name in key.split("_") and ("uncorrected" in key) == uncorrected]
    return total[names[0]] if names else None


def queue_chart(data: RunData, axis: TimeAxis) -> Chart | None:
    """All brokers in one picture: the deepest queue at each moment, and the middle one."""
    if not any(_depths(points) for points in data.queue.values()):
        return None
    depths: dict[int, list[float]] = {}
    for points in data.queue.values():
        for t, depth in _depths(points):
            depths.setdefault(_slot(t, axis), []).append(depth)
    width = _slot_ns(axis)
    times = [axis.start_t + slot * width for slot in sorted(depths)]
    deepest = [(t, max(depths[slot])) for t, slot in zip(times, sorted(depths), strict=True)]
    middle = [(t, float(statistics.median(depths[slot]))) for t, slot in zip(times, sorted(depths), strict=True)]
    bucket_ns = _bucket_ns(times, axis)
    scale = counts_scale([value for _, value in deepest])
    plot = Plot(axis, data.faults, 170, bucket_ns, f"Deepest input queue over time, at most {_number(scale.high)}")
    series = [Series("median broker", "line-middle", middle), Series("deepest queue", "line-depth", deepest)]
    zero = [(t, 0.0) for t, _ in deepest]
    svg = line_chart(plot, scale, _number, series, Band("fill-depth", zero, deepest))
    readings = [
        {"name": "deepest queue", "unit": "count", "values": _rounded(deepest)},
        {"name": "median broker", "unit": "count", "values": _rounded(middle)},
    ]
    return Chart("queue", [svg], _readout(times, bucket_ns, axis, readings))


def queue_multiples(data: RunData, axis: TimeAxis) -> list[Multiple]:
    """The brokers with the deepest queues, all on one scale."""
    order = sorted(data.queue, key=lambda node: (-_deepest(data.queue[node]), natural(node)))[:MULTIPLES_MAX]
    scale = counts_scale([_deepest(data.queue[node]) for node in order])
    multiples = []
    for node in order:
        points = _depths(data.queue[node])
        deepest = int(_deepest(data.queue[node]))
        bucket_ns = _bucket_ns([t for t, _ in points], axis)
        plot = Plot(axis, data.faults, 52, bucket_ns, f"Queue of {node} over time, at most {deepest}")
        multiples.append(Multiple(node, deepest, sparkline(plot, scale, points)))
    return multiples


def queue_rows(data: RunData) -> list[QueueRow]:
    rows = [_queue_row(node, points, data.span_ns) for node, points in data.queue.items()]
    rows.sort(key=lambda row: (-row.depth, natural(row.node)))
    return rows[:TABLE_ROWS_MAX]


def _queue_row(node: str, points: tuple[QueuePoint, ...], span_ns: int) -> QueueRow:
    return QueueRow(
        node=node,
        depth=int(_deepest(points)),
        wait=duration(max((point.wait_p99_ns for point in points), default=0)),
        busy=f"{100 * sum(point.work_ns for point in points) / span_ns:.1f} %",
        handled=sum(point.handled for point in points),
        table=max((point.table for point in points), default=0),
        unacked=max((point.unacked for point in points), default=0),
    )


def _depths(points: tuple[QueuePoint, ...]) -> Points:
    """Only where a sample was taken: a bucket without one is not an empty queue."""
    return [(point.t, point.depth_max) for point in points if point.depth_max is not None]


def _deepest(points: tuple[QueuePoint, ...]) -> float:
    return max((depth for _, depth in _depths(points)), default=0)


def _slot_ns(axis: TimeAxis) -> int:
    return max(1, -(-(axis.end_t - axis.start_t) // 480))


def _slot(t: int, axis: TimeAxis) -> int:
    return (t - axis.start_t) // _slot_ns(axis)


def _bucket_ns(times: list[int], axis: TimeAxis) -> int:
    """The usual distance of buckets; a lone one may hold everything up to the end."""
    gaps = sorted(later - earlier for earlier, later in pairwise(times) if later > earlier)
    return gaps[len(gaps) // 4] if gaps else max(1, axis.end_t - min(times, default=axis.start_t))


def _readout(times: list[int], bucket_ns: int, axis: TimeAxis, series: list[dict[str, Any]]) -> dict[str, Any]:
    span = axis.end_t - axis.start_t
    return {
        "start": axis.start_t / NS_PER_S,
        "span": span / NS_PER_S,
        "at": [round((t + bucket_ns / 2 - axis.start_t) / span, 5) for t in times],
        "series": series,
    }


def _rounded(points: Points) -> list[int | float]:
    return [int(value) if value >= 100 or value == int(value) else round(value, 1) for _, value in points]


def _number(value: float) -> str:
    return count(value) if value == int(value) else f"{value:g}"
