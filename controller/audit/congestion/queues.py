"""Brokers over time: what came, what waited and how long, what it cost, what went; in all, and by kind of message."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import Column
from pyspark.sql import functions as F

from controller.audit.congestion.buckets import BUCKETS, Buckets
from controller.audit.congestion.delays import ACCURACY
from controller.audit.evidence import Evidence
from controller.audit.load import events


def queue(evidence: Evidence) -> pa.Table:
    """A message arrived as long before its record as it waited and was worked on; `backlog` is what is left then."""
    buckets = Buckets.over(evidence.facts.span(), BUCKETS)
    handled = F.col("event") == "handle"
    told = events(evidence.rows, "sample", "handle", "forward").withColumn("bucket", buckets.of(F.col("t")))
    measured = told.groupBy("node", "bucket").agg(
        F.max("queue").alias("depth_max"),
        F.max("table").alias("table"),
        F.max("unacked").alias("unacked"),
        F.percentile_approx("wait_ns", F.lit(0.99), F.lit(ACCURACY)).alias("wait_p99_ns"),
        F.coalesce(F.sum("work_ns"), F.lit(0)).alias("work_ns"),
        F.count_if(handled).alias("handled"),
        F.count_if(F.col("event") == "forward").alias("forwarded"),
    )  # fmt: skip
    came = (
        events(evidence.rows, "handle")
        .groupBy("node", buckets.of(arrival_t()).alias("bucket"))
        .agg(F.count("*").alias("arrived"))
    )
    table = (
        measured.join(came, ["node", "bucket"], "full_outer")
        .na.fill(0, ["work_ns", "handled", "forwarded", "arrived"])
        .withColumnRenamed("bucket", "t")
        .select("node", "t", "depth_max", "table", "unacked", "wait_p99_ns", "work_ns", "handled", "arrived",
                "forwarded")
        .orderBy("node", "t")
        .toArrow()
    )  # fmt: skip
    return table.append_column("backlog", pa.array(_backlog(table), pa.int64()))


def _backlog(table: pa.Table) -> list[int]:
    """Rows come by node and time."""
    left: list[int] = []
    current, waiting = None, 0
    for node, arrived, handled in zip(*(table[name].to_pylist() for name in ("node", "arrived", "handled")),
                                      strict=True):  # fmt: skip
        waiting = (waiting if node == current else 0) + arrived - handled
        current = node
        left.append(waiting)
    return left


def arrival_t() -> Column:
    return F.col("t") - F.col("wait_ns") - F.col("work_ns")


def work(evidence: Evidence) -> pa.Table:
    """Waiting and working time by kind of message."""
    buckets = Buckets.over(evidence.facts.span(), BUCKETS)
    return (
        events(evidence.rows, "handle")
        .groupBy("node", buckets.of(F.col("t")).alias("bucket"), "kind")
        .agg(
            F.count("*").alias("handled"), F.sum("wait_ns").alias("wait_ns"), F.max("wait_ns").alias("wait_max_ns"),
            F.sum("work_ns").alias("work_ns"), F.max("work_ns").alias("work_max_ns"),
        )
        .withColumnRenamed("bucket", "t")
        .orderBy("node", "t", "kind")
        .toArrow()
    )  # fmt: skip
