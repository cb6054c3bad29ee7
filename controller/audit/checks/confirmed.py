"""Was anything at stake? Without a required pair, or with a subscription nobody answered, a pass would say nothing."""

from __future__ import annotations

from pyspark.sql import functions as F

from controller.audit.evidence import Evidence
from controller.audit.findings import UNKNOWN, Findings, Violation, collect


def find(evidence: Evidence) -> Findings:
    unanswered = (
        F.col("established").isNull() & ~F.col("refused") & F.col("detach").isNull()
        if not evidence.facts.broker_died
        else F.lit(False)
    )
    why = (
        F.when(unanswered, F.lit("was never confirmed, though no broker died"))
        .when(F.col("refused") & F.col("established").isNotNull(), F.lit("was refused, and confirmed all the same"))
        .when(
            F.col("unreadable").isNotNull() & ~F.col("refused"),
            F.concat(F.lit("has a filter that the audit cannot read: "), F.col("unreadable")),
        )
    )
    found = collect(
        evidence.subscriptions.where(why.isNotNull()).select(
            F.lit(UNKNOWN).alias("verdict"), "client", F.lit(None).cast("string").alias("msg"), "sub",
            F.coalesce("subscribe.t", "established.t").alias("t"), F.lit(None).cast("string").alias("fault"),
            F.lit(False).alias("excused"),
            F.concat(F.lit("subscription "), F.col("sub"), F.lit(" of "), F.col("client"), F.lit(" "), why)
            .alias("detail"),
        )
    )  # fmt: skip
    if evidence.pairs_required == 0:
        found.add(Violation(UNKNOWN, "no message was required to go anywhere"))
    return found
