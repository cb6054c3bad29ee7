"""What was refused, was refused rightly: no well-formed request, nothing that a broker of the network sent."""

from __future__ import annotations

from pyspark.sql import functions as F

from controller.audit.evidence import Evidence
from controller.audit.findings import FAIL, UNKNOWN, Findings, collect, told
from controller.audit.load import events


def find(evidence: Evidence) -> Findings:
    """Garbage from strangers is refused, recorded and survived: no offence.

    For one's own language the audit reads filters no less strictly than a broker may; a broker's limits on the size of
    patterns are its own, so a refused pattern that can be read is `unknown`.
    """
    refusals = sum(file.counts.get("refuse", 0) for file in evidence.facts.files)
    if not refusals:
        return told([])
    rows = evidence.rows
    asked = (
        events(rows, "subscribe", "advertise")
        .groupBy(F.coalesce("sub", "adv").alias("what"))
        .agg(F.min("client").alias("client"), F.min("filter").alias("filter"), F.min("lang").alias("lang"))
        .join(events(rows, "filter").select("filter", "lang", "unreadable").distinct(), ["filter", "lang"], "left")
    )
    published = evidence.publications.select(F.col("msg").alias("what"), "publisher", F.lit(True).alias("published"))
    refused = (
        events(rows, "refuse")
        .groupBy("what")
        .agg(F.min_by("node", "t").alias("node"), F.min_by("why", "t").alias("why"), F.min("t").alias("t"))
        .join(asked, "what", "left")
        .join(published, "what", "left")
    )
    peers = [f"message from {broker}" for broker in evidence.facts.brokers]
    readable = F.col("filter").isNotNull() & F.col("unreadable").isNull()
    wrong = (
        F.when(F.col("what").isin(peers), F.lit("what a broker of the network sent"))
        .when(F.col("published"), F.lit("a publication that can be read"))
        .when(readable, F.concat(F.lit("the well-formed filter "), F.col("filter")))
    )
    verdict = F.when(readable & (F.col("lang") == "xpath"), F.lit(UNKNOWN)).otherwise(F.lit(FAIL))
    found = collect(
        refused.where(wrong.isNotNull()).select(
            verdict.alias("verdict"), F.coalesce("client", "publisher").alias("client"),
            F.when(F.col("published"), F.col("what")).alias("msg"),
            F.when(F.col("filter").isNotNull(), F.col("what")).alias("sub"), "t",
            evidence.fault_at(F.col("t")).alias("fault"), F.lit(False).alias("excused"),
            F.concat(F.col("node"), F.lit(" refused "), wrong, F.lit(" ("), F.col("what"), F.lit("): "), F.col("why"))
            .alias("detail"),
        )
    )  # fmt: skip
    rightly = refusals - found.violations
    found.note = f"{rightly} rightly refused" if rightly > 0 else ""
    return found
