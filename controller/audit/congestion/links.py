"""What went from broker to broker, in all and over time; the hops to clients are left out."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as F

from controller.audit.congestion.buckets import BUCKETS, Buckets
from controller.audit.evidence import Evidence
from controller.audit.load import events

BITS_PER_BYTE = 8
NS_PER_MS = 1_000_000


def link_load(evidence: Evidence) -> pa.Table:
    """`utilisation` is the share of the rate that topology.json gives a link; null if it gives none."""
    facts = evidence.facts
    buckets = Buckets.over(facts.span(), BUCKETS)
    brokers = facts.brokers or sorted({file.node for file in facts.files})
    publication = F.col("kind") == "publication"
    loads = (
        events(evidence.rows, "forward")
        .where(F.col("to").isin(brokers))
        .groupBy(F.col("node").alias("a"), F.col("to").alias("b"), buckets.of(F.col("t")).alias("bucket"))
        .agg(
            F.count_if(publication).alias("publications"), F.count_if(~publication).alias("control"),
            F.sum("bytes").alias("bytes"),
        )
        .withColumnRenamed("bucket", "t")
        .orderBy("a", "b", "t")
        .toArrow()
    )  # fmt: skip
    rates = {end: link.rate_kbps for link in facts.links for end in ((link.a, link.b), (link.b, link.a))}
    used = [
        _share(sent, rates.get((a, b)), buckets.width_ns)
        for a, b, sent in zip(*(loads[name].to_pylist() for name in ("a", "b", "bytes")), strict=True)
    ]
    return loads.append_column("utilisation", pa.array(used, pa.float64()))


def _share(sent: int, rate_kbps: float | None, width_ns: int) -> float | None:
    return sent * BITS_PER_BYTE / (rate_kbps * (width_ns / NS_PER_MS)) if rate_kbps else None


def links(loads: pa.Table) -> pa.Table:
    """The whole run, a row for each direction of a link."""
    total = loads.group_by(["a", "b"]).aggregate(
        [("publications", "sum"), ("control", "sum"), ("bytes", "sum"), ("utilisation", "max")]
    )
    total = total.select(["a", "b", "publications_sum", "control_sum", "bytes_sum", "utilisation_max"])
    named = total.rename_columns(["a", "b", "publications", "control", "bytes", "utilisation_max"])
    return named.take(pc.sort_indices(named, [("a", "ascending"), ("b", "ascending")]))
