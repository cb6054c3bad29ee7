"""What was delivered without any right: unknown message, no matching subscription, or not asked for yet."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from controller.audit.evidence import Evidence
from controller.audit.findings import Findings, collect, verdict_unless
from controller.audit.load import events
from controller.audit.oracle import cancelled


def find(evidence: Evidence) -> Findings:
    """A subscription that was cancelled is `unsubscribed`'s affair."""
    was_cancelled = F.exists("pairs", lambda pair: cancelled(pair, F.col("delivered")))
    wrong = evidence.deliveries.where(~F.col("rightful") & ~(F.col("genuine") & was_cancelled))
    unpublished = F.col("publisher").isNull()
    untold = evidence.untold(F.col("node"))
    if evidence.facts.damaged_nodes:
        sound = (
            events(evidence.rows, "attach", "subscribe", "publish")
            .where(~evidence.untold(F.col("node")))
            .select(F.col("client").alias("said_publisher"), F.lit(True).alias("sound"))
            .distinct()
        )
        wrong = wrong.join(sound, "said_publisher", "left")
        untold = untold | (unpublished & F.col("sound").isNull() & F.lit(_drivers_damaged(evidence)))
    return collect(
        wrong.select(
            verdict_unless(untold).alias("verdict"),
            "client", "msg", F.get("subs", F.lit(0)).alias("sub"), F.col("delivered.t").alias("t"),
            evidence.fault_at(F.col("delivered.t")).alias("fault"), F.lit(False).alias("excused"),
            F.concat(F.col("client"), F.lit(" got "), F.col("msg"), F.lit(", "), _why(unpublished)).alias("detail"),
        )
    )  # fmt: skip


def _drivers_damaged(evidence: Evidence) -> bool:
    """A publication may be untold if any log that could hold it is damaged."""
    return bool(set(evidence.facts.damaged_nodes) - set(evidence.facts.brokers))


def _why(unpublished: Column) -> Column:
    forged = F.concat(
        F.lit("delivered as number "), F.col("said_seq"), F.lit(" of "), F.col("said_publisher"),
        F.lit(", published as number "), F.col("seq"), F.lit(" of "), F.col("publisher"),
    )  # fmt: skip
    asked = F.array_join("pairs.sub", ", ")
    return (
        F.when(unpublished, F.lit("which nobody published"))
        .when(~F.col("genuine"), forged)
        .when(F.size("pairs") == 0, F.lit("which none of its subscriptions matches"))
        .otherwise(F.concat(F.lit("which only matches what was not asked for yet: "), asked))
    )
