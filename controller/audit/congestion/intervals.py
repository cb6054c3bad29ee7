"""When which broker was congested, ranked, with a sentence on what it was busy with."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec
import pyarrow as pa
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from controller.audit.congestion import tracing
from controller.audit.congestion.buckets import FINE_BUCKETS, Buckets
from controller.audit.congestion.queues import arrival_t
from controller.audit.congestion.triggered import Triggered, fault_name
from controller.audit.evidence import Evidence
from controller.audit.facts import RunFacts
from controller.audit.load import events

WAIT_NS_MIN = 50_000_000
"""A broker is congested while a message waits in its queue for longer than this."""
GAP_BUCKETS = 2
"""Quiet for no longer than this, and it is the same congestion."""
EXPLAINED_MAX = 50
INTERVALS_MAX = 1000
PUBLICATIONS = "publications"

_NS_PER_S = 1_000_000_000
_NS_PER_MS = 1_000_000


class Interval(msgspec.Struct):
    """`wait_ns` is what all messages waited together, which the rank goes by. `cause`, `triggered` (how many messages
    of that cause the broker handled meanwhile) and `depth_max` are told of the first fifty."""

    node: str
    start_t: int
    end_t: int
    handled: int
    wait_ns: int
    wait_max_ns: int
    work_ns: int
    depth_max: int | None = None
    cause: str | None = None
    triggered: int | None = None
    fault: str | None = None
    sentence: str = ""


CONGESTED = pa.schema([
    ("node", pa.string()), ("start_t", pa.int64()), ("end_t", pa.int64()), ("handled", pa.int64()),
    ("wait_ns", pa.int64()), ("wait_max_ns", pa.int64()), ("work_ns", pa.int64()), ("depth_max", pa.int64()),
    ("cause", pa.string()), ("triggered", pa.int64()), ("fault", pa.string()), ("sentence", pa.string()),
])  # fmt: skip


def intervals(evidence: Evidence, triggered: Triggered) -> list[Interval]:
    """The longest waiting first."""
    if not any(file.counts.get("handle") for file in evidence.facts.files):
        return []
    buckets = Buckets.over(evidence.facts.span(), FINE_BUCKETS)
    busy = (
        events(evidence.rows, "handle")
        .groupBy("node", buckets.of(F.col("t")).alias("bucket"))
        .agg(F.count("*").alias("handled"), F.sum("wait_ns").alias("wait_ns"), F.max("wait_ns").alias("wait_max_ns"),
             F.sum("work_ns").alias("work_ns"))
        .where(F.col("wait_max_ns") > WAIT_NS_MIN)
        .orderBy("node", "bucket")
        .toArrow()
        .to_pylist()
    )  # fmt: skip
    found = sorted(merged(busy, buckets.width_ns), key=lambda one: (-one.wait_ns, one.start_t, one.node))
    _explain(evidence, triggered, found[:EXPLAINED_MAX])
    return found[:INTERVALS_MAX]


def merged(busy: list[dict[str, Any]], width_ns: int) -> list[Interval]:
    """Buckets in order of node and time."""
    found: list[Interval] = []
    for row in busy:
        last = found[-1] if found else None
        if last is None or last.node != row["node"] or row["bucket"] - last.end_t > GAP_BUCKETS * width_ns:
            found.append(Interval(row["node"], row["bucket"], row["bucket"] + width_ns, row["handled"],
                                  row["wait_ns"], row["wait_max_ns"], row["work_ns"]))  # fmt: skip
            continue
        last.end_t = row["bucket"] + width_ns
        last.handled += row["handled"]
        last.wait_ns += row["wait_ns"]
        last.wait_max_ns = max(last.wait_max_ns, row["wait_max_ns"])
        last.work_ns += row["work_ns"]
    return found


def _explain(evidence: Evidence, triggered: Triggered, found: list[Interval]) -> None:
    if not found:
        return
    handled = _within(evidence, found)
    depths = _depths(handled)
    causes = _causes(handled, evidence, triggered)
    for number, interval in enumerate(found):
        interval.depth_max = depths.get(number)
        interval.cause, interval.triggered = causes.get(number, (None, None))
        interval.fault = _strain(interval, evidence.facts)
        interval.sentence = sentence(interval)


def _within(evidence: Evidence, found: list[Interval]) -> DataFrame:
    """What was handled in one of the intervals: (interval, node, file, n, kind, t, wait_ns, work_ns)."""
    spark = evidence.rows.sparkSession
    rows = [(number, one.node, one.start_t, one.end_t) for number, one in enumerate(found)]
    wanted = spark.createDataFrame(rows, "interval int, node string, start_t long, end_t long")
    handled = events(evidence.rows, "handle").where(F.col("node").isin(sorted({one.node for one in found})))
    return (
        handled.join(F.broadcast(wanted), "node")
        .where("t >= start_t and t < end_t")
        .select("interval", "node", "file", "n", "kind", "t", "wait_ns", "work_ns")
    )


def _depths(handled: DataFrame) -> dict[int, int]:
    """How many waited at once; who leaves makes room for who comes at the same time."""
    came = handled.select("interval", arrival_t().alias("t"), F.lit(1).alias("step"))
    went = handled.select("interval", (F.col("t") - F.col("work_ns")).alias("t"), F.lit(-1).alias("step"))
    order = Window.partitionBy("interval").orderBy("t", "step").rowsBetween(Window.unboundedPreceding, 0)
    deepest = came.unionAll(went).withColumn("depth", F.sum("step").over(order)).groupBy("interval").agg(F.max("depth"))
    return {row["interval"]: row["max(depth)"] for row in deepest.collect()}


def _causes(handled: DataFrame, evidence: Evidence, triggered: Triggered) -> dict[int, tuple[str, int]]:
    """What took most of the broker's work, and how many messages of it."""
    is_publication = F.col("kind") == "publication"
    if triggered.is_told:
        files = [file.file for file in evidence.facts.files]
        known = triggered.caused.where("event = 'handle'").select("id", "cause")
        numbered = tracing.numbered(handled, files)
        named = numbered.join(known, "id", "left").withColumn("cause", F.coalesce("cause", _kinds()))
    else:
        named = handled.withColumn("cause", F.when(is_publication, F.lit(PUBLICATIONS)).otherwise(_kinds()))
    summed = named.groupBy("interval", "cause").agg(F.sum("work_ns").alias("work_ns"), F.count("*").alias("messages"))
    greatest = summed.groupBy("interval").agg(F.max(F.struct("work_ns", "messages", "cause")).alias("most"))
    return {row["interval"]: (row["most"]["cause"], row["most"]["messages"]) for row in greatest.collect()}


def _kinds() -> Column:
    return F.when(F.col("kind") == "publication", F.lit(PUBLICATIONS)).otherwise(F.col("kind"))


def _strain(interval: Interval, facts: RunFacts) -> str | None:
    """The fault that the broker itself was under meanwhile."""
    for window in facts.windows:
        end_t = interval.end_t if window.heal_t is None else window.heal_t
        if window.target == f"broker:{interval.node}" and window.apply_t < interval.end_t and end_t > interval.start_t:
            return fault_name(window)
    return None


def sentence(interval: Interval) -> str:
    count = interval.triggered or 0
    if interval.cause == PUBLICATIONS:
        why = f"busy with publications: {count:,} handled"
    elif interval.cause is not None:
        why = f"caused by {interval.cause}: {count:,} triggered"
    else:
        why = "for reasons untold"
    waits = f"queue up to {interval.depth_max or 0:,}, waits up to {_duration(interval.wait_max_ns)}"
    strain = f", during the {interval.fault}" if interval.fault else ""
    begin, end = _clock(interval.start_t, interval.end_t)
    return f"broker {interval.node}, {begin} to {end}, {why} ({waits}{strain})"


def _duration(ns: int) -> str:
    return f"{ns / _NS_PER_S:.1f} s" if ns >= _NS_PER_S else f"{ns / _NS_PER_MS:.0f} ms"


def _clock(start_t: int, end_t: int) -> tuple[str, str]:
    """UTC; short intervals with their fractions of a second."""
    spec = "milliseconds" if end_t - start_t < 10 * _NS_PER_S else "seconds"
    begin, end = (
        datetime.fromtimestamp(t // _NS_PER_S, UTC).replace(microsecond=t % _NS_PER_S // 1000).time()
        for t in (start_t, end_t)
    )
    return begin.isoformat(spec), end.isoformat(spec)


def table(found: list[Interval]) -> pa.Table:
    return pa.Table.from_pylist([msgspec.structs.asdict(one) for one in found], CONGESTED)
