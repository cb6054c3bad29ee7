"""From publication to delivery, corrected for coordinated omission: a publisher held back does not hide the delay."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from controller.audit.congestion.buckets import BUCKETS, Buckets
from controller.audit.evidence import Evidence

ACCURACY = 1000


def delay(evidence: Evidence) -> pa.Table:
    """Over time, from when a message should have been sent."""
    buckets = Buckets.over(evidence.facts.span(), BUCKETS)
    return _by("t", _first_copies(evidence).withColumn("t", buckets.of(F.col("delivered.t"))))


def delay_brokers(evidence: Evidence) -> pa.Table:
    """The same by the broker that delivered."""
    return _by("broker", _first_copies(evidence))


def delay_total(evidence: Evidence) -> pa.Table:
    """The whole run in one row: corrected from the intended time, uncorrected from the time of sending."""
    uncorrected_ns = F.col("delivered.t") - F.col("published.t")
    return (
        _first_copies(evidence)
        .agg(
            F.count("*").alias("count"),
            _percentiles(_corrected_ns()).alias("p"), F.max(_corrected_ns()).alias("max_ns"),
            _percentiles(uncorrected_ns).alias("q"), F.max(uncorrected_ns).alias("uncorrected_max_ns"),
        )
        .select("count", *_named("p", ""), "max_ns", *_named("q", "uncorrected_"), "uncorrected_max_ns")
        .toArrow()
    )  # fmt: skip


def _by(key: str, delivered: DataFrame) -> pa.Table:
    return (
        delivered.groupBy(key)
        .agg(F.count("*").alias("count"), _percentiles(_corrected_ns()).alias("p"),
             F.max(_corrected_ns()).alias("max_ns"))
        .select(key, "count", *_named("p", ""), "max_ns")
        .orderBy(key)
        .toArrow()
    )  # fmt: skip


def _corrected_ns() -> Column:
    return F.col("delivered.t") - F.col("intended_t")


def _first_copies(evidence: Evidence) -> DataFrame:
    return evidence.deliveries.where("genuine and copy = 1")


def _percentiles(value: Column) -> Column:
    return F.percentile_approx(value, [0.5, 0.9, 0.99], ACCURACY)


def _named(percentiles: str, prefix: str) -> list[Column]:
    return [F.get(percentiles, F.lit(i)).alias(f"{prefix}{name}_ns") for i, name in enumerate(("p50", "p90", "p99"))]
