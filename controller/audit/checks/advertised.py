"""A client that advertises publishes only what one of its confirmed advertisements covers."""

from __future__ import annotations

from pyspark.sql import functions as F

from controller.audit.evidence import Evidence
from controller.audit.findings import UNKNOWN, Findings, collect, told


def find(evidence: Evidence) -> Findings:
    """The workload's mistake, not the network's: what was published outside of it could not be judged."""
    if evidence.unadvertised is None:
        return told([])
    return collect(
        evidence.unadvertised.select(
            F.lit(UNKNOWN).alias("verdict"), F.col("publisher").alias("client"), "msg",
            F.lit(None).cast("string").alias("sub"), F.col("published.t").alias("t"),
            F.lit(None).cast("string").alias("fault"), F.lit(False).alias("excused"),
            F.concat(F.col("publisher"), F.lit(" published "), F.col("msg"), F.lit(" outside of what it advertised"))
            .alias("detail"),
        )
    )  # fmt: skip
