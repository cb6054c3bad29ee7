"""Where and when the network was slow: delays, queues and link loads over time."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from controller.audit.evidence import Evidence
from controller.audit.load import events

BUCKETS = 120
BUCKET_NS_MIN = 100_000_000
_ACCURACY = 1000


def bucket_ns(span: tuple[int, int]) -> int:
    start_t, end_t = span
    return max(BUCKET_NS_MIN, -(-(end_t - start_t) // BUCKETS))


def delay(evidence: Evidence) -> pa.Table:
    """From when a message should have been sent, so that a publisher that was held back does not hide the delay."""
    corrected_ns = F.col("delivered.t") - F.col("intended_t")
    return (
        _first_copies(evidence)
        .groupBy(_bucket(F.col("delivered.t"), evidence.facts.span()).alias("t"))
        .agg(F.count("*").alias("count"), _percentiles(corrected_ns).alias("p"), F.max(corrected_ns).alias("max_ns"))
        .select("t", "count", *_named("p", ""), "max_ns")
        .orderBy("t")
        .toArrow()
    )


def delay_total(evidence: Evidence) -> pa.Table:
    """The whole run in one row: corrected from the intended time, uncorrected from the time of sending."""
    corrected_ns = F.col("delivered.t") - F.col("intended_t")
    uncorrected_ns = F.col("delivered.t") - F.col("published.t")
    return (
        _first_copies(evidence)
        .agg(
            F.count("*").alias("count"),
            _percentiles(corrected_ns).alias("p"), F.max(corrected_ns).alias("max_ns"),
            _percentiles(uncorrected_ns).alias("q"), F.max(uncorrected_ns).alias("uncorrected_max_ns"),
        )
        .select("count", *_named("p", ""), "max_ns", *_named("q", "uncorrected_"), "uncorrected_max_ns")
        .toArrow()
    )  # fmt: skip


def queue(evidence: Evidence) -> pa.Table:
    handled = F.col("event") == "handle"
    return (
        events(evidence.rows, "sample", "handle")
        .groupBy("node", _bucket(F.col("t"), evidence.facts.span()).alias("bucket"))
        .agg(
            F.max("queue").alias("depth_max"),
            F.max("table").alias("table"),
            F.max("unacked").alias("unacked"),
            F.percentile_approx("wait_ns", F.lit(0.99), F.lit(_ACCURACY)).alias("wait_p99_ns"),
            F.coalesce(F.sum("work_ns"), F.lit(0)).alias("work_ns"),
            F.count_if(handled).alias("handled"),
        )
        .withColumnRenamed("bucket", "t")
        .select("node", "t", "depth_max", "table", "unacked", "wait_p99_ns", "work_ns", "handled")
        .orderBy("node", "t")
        .toArrow()
    )


def links(evidence: Evidence) -> pa.Table:
    """What went from broker to broker; the hops to clients are left out."""
    brokers = evidence.facts.brokers or sorted({file.node for file in evidence.facts.files})
    publication = F.col("kind") == "publication"
    return (
        events(evidence.rows, "forward")
        .where(F.col("to").isin(brokers))
        .groupBy(F.col("node").alias("a"), F.col("to").alias("b"))
        .agg(
            F.count_if(publication).alias("publications"),
            F.count_if(~publication).alias("control"),
            F.sum("bytes").alias("bytes"),
        )
        .orderBy("a", "b")
        .toArrow()
    )


def _first_copies(evidence: Evidence) -> DataFrame:
    return evidence.deliveries.where("genuine and copy = 1")


def _bucket(t: Column, span: tuple[int, int]) -> Column:
    width_ns = bucket_ns(span)
    return F.lit(span[0]) + F.floor((t - span[0]) / width_ns).cast("long") * width_ns


def _percentiles(value: Column) -> Column:
    return F.percentile_approx(value, [0.5, 0.9, 0.99], _ACCURACY)


def _named(percentiles: str, prefix: str) -> list[Column]:
    return [F.get(percentiles, F.lit(i)).alias(f"{prefix}{name}_ns") for i, name in enumerate(("p50", "p90", "p99"))]
