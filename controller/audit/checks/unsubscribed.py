"""Nothing is delivered for a subscription whose cancellation was confirmed."""

from __future__ import annotations

from pyspark.sql import functions as F

from controller.audit.evidence import Evidence
from controller.audit.findings import Findings, collect, told, verdict_unless
from controller.audit.oracle import cancelled


def find(evidence: Evidence) -> Findings:
    """What `spurious` leaves to this check: only a subscription that is no longer there asked for the message."""
    if not any(file.counts.get("unsubscribed") for file in evidence.facts.files):
        return told([])
    late = evidence.deliveries.where("genuine and not rightful").withColumn(
        "gone", F.filter("pairs", lambda pair: cancelled(pair, F.col("delivered")))
    )
    return collect(
        late.where(F.size("gone") > 0).select(
            verdict_unless(evidence.untold(F.col("node"))).alias("verdict"),
            "client", "msg", F.get("gone.sub", F.lit(0)).alias("sub"), F.col("delivered.t").alias("t"),
            evidence.fault_at(F.col("delivered.t")).alias("fault"), F.lit(False).alias("excused"),
            F.concat(F.col("client"), F.lit(" got "), F.col("msg"), F.lit(" after its subscription was cancelled: "),
                     F.array_join("gone.sub", ", ")).alias("detail"),
        )
    )  # fmt: skip
