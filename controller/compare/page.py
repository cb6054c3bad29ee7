"""The comparison as one page: the numbers in a table, and what changed over time laid over each other."""

from __future__ import annotations

import statistics
from pathlib import Path

from markupsafe import Markup

from controller.audit.report.model import QueuePoint
from controller.audit.report.svg import element
from controller.audit.report.words import LABELS
from controller.compare.model import Compared, Summary
from controller.compare.rows import MEASURES
from controller.pages import Section, chart, page, table, write
from controller.pages.charts import Points
from controller.text import NS_PER_S, duration, offset

FAULTS_SHOWN = 40
SINCE_LOAD = "seconds since the load began"


def write_page(compared: Compared, path: Path) -> Path:
    sections = [
        Section("Side by side", [_numbers(compared)]),
        Section("Delay of deliveries", _delays(compared)),
        Section("Tables and queues of the brokers", _sizes(compared)),
        Section("Messages between brokers", _kinds(compared)),
        Section("Faults", _faults(compared)),
        Section("The runs", [_runs(compared)]),
    ]
    title = f"{len(compared.runs)} runs compared"
    note = compared.grounds()
    lead: list[Markup | str] = [note if compared.is_same_experiment else element("p", note, class_="warn")]
    foot = "A dash stands for what the logs of a run do not tell. Each run's own report has the details."
    return write(path, page(title, sections, lead, "", foot))


def _numbers(compared: Compared) -> Markup:
    rows: list[list[object]] = []
    for measure in MEASURES:
        cells = [measure.text(one) for one in compared.runs]
        rows.append([measure.title, *(map(_verdict, cells) if measure.key == "verdict" else cells)])
    return table(["", *(one.label for one in compared.runs)], rows)


def _verdict(word: str) -> Markup:
    return element("span", LABELS.get(word, word), class_=f"chip is-{word}")


def _delays(compared: Compared) -> list[Markup | str]:
    def over_time(name: str) -> dict[str, Points]:
        return {
            one.label: [(_since_load(one, point.t), getattr(point, name)) for point in one.data.delay]
            for one in compared.runs
        }

    return [
        "From the moment a publication was meant to be sent until a client had it.",
        _percentiles(compared),
        chart(over_time("p50_ns"), SINCE_LOAD, "median delay", log_y=True, written_y=duration),
        chart(over_time("p99_ns"), SINCE_LOAD, "p99 of the delay", log_y=True, written_y=duration),
    ]


def _percentiles(compared: Compared) -> Markup:
    """Over how rare it is: half of the deliveries take longer than the median, one in a hundred longer than p99."""
    known = {"p50_ns": 50.0, "p90_ns": 90.0, "p99_ns": 99.0, "max_ns": 100.0}
    curves = {
        one.label: [(percent, total[name]) for name, percent in known.items() if name in total]
        for one in compared.runs
        if (total := one.data.delay_total)
    }
    return chart(curves, "percentile of all deliveries", "delay", log_y=True, written_y=duration)


def _sizes(compared: Compared) -> list[Markup | str]:
    tables = {one.label: _mean_table(one) for one in compared.runs}
    queues = {one.label: _deepest_queue(one) for one in compared.runs}
    return [
        chart(tables, SINCE_LOAD, "mean table of a broker, entries"),
        chart(queues, SINCE_LOAD, "deepest input queue, messages"),
    ]


def _samples(summary: Summary) -> list[tuple[int, list[tuple[str, QueuePoint]]]]:
    """By bucket, in order of time; a bucket holds only the brokers that were sampled in it."""
    buckets: dict[int, list[tuple[str, QueuePoint]]] = {}
    for node, points in summary.data.queue.items():
        for point in points:
            if point.depth_max is not None:
                buckets.setdefault(point.t, []).append((node, point))
    return sorted(buckets.items(), key=lambda bucket: bucket[0])


def _mean_table(summary: Summary) -> Points:
    """A broker that was not sampled keeps what it was last seen with, else the mean would jump with who was asked."""
    last: dict[str, int] = {}
    means = []
    for t, sampled in _samples(summary):
        last.update({node: point.table for node, point in sampled})
        means.append((_since_load(summary, t), statistics.fmean(last.values())))
    return means


def _deepest_queue(summary: Summary) -> Points:
    return [
        (_since_load(summary, t), max(point.depth_max or 0.0 for _, point in sampled))
        for t, sampled in _samples(summary)
    ]


def _kinds(compared: Compared) -> list[Markup | str]:
    every = list(dict.fromkeys(kind for one in compared.runs for kind in one.kinds or {}))
    if not every:
        return ["No run's logs tell what the brokers sent each other."]
    rows = [[kind, *(one.sent(kind) for one in compared.runs)] for kind in every]
    return [table(["kind", *(one.label for one in compared.runs)], rows)]


def _faults(compared: Compared) -> list[Markup | str]:
    rows = []
    for one in compared.runs:
        for fault in one.data.faults[:FAULTS_SHOWN]:
            end = "to the end" if fault.heal_t is None else duration(fault.heal_t - fault.apply_t)
            rows.append([one.label, fault.kind, fault.subject, offset(fault.apply_t - one.load_t), end, fault.excused])
    if not rows:
        return ["No run had any."]
    header = ["run", "fault", "target", "applied, since the load began", "lasted", "losses excused"]
    more = any(one.data.faults_total > FAULTS_SHOWN for one in compared.runs)
    note = [f"The first {FAULTS_SHOWN} of each run; audit/verdict.json has all."] if more else []
    return [table(header, rows), *note]


def _runs(compared: Compared) -> Markup:
    rows = [[one.label, str(one.run), str(one.data.run.get("command") or "")] for one in compared.runs]
    return table(["run", "directory", "what repeats it"], rows, words=True)


def _since_load(summary: Summary, t: int) -> float:
    return (t - summary.load_t) / NS_PER_S
