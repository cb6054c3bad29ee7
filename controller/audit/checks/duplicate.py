"""A client gets a message once."""

from __future__ import annotations

from pyspark.sql import functions as F

from controller.audit.evidence import Evidence
from controller.audit.findings import FAIL, Findings, collect


def find(evidence: Evidence) -> Findings:
    return collect(
        evidence.deliveries.where("copy > 1").select(
            F.lit(FAIL).alias("verdict"),
            "client", "msg", F.get("subs", F.lit(0)).alias("sub"), F.col("delivered.t").alias("t"),
            evidence.fault_at(F.col("delivered.t")).alias("fault"), F.lit(False).alias("excused"),
            F.concat(F.col("client"), F.lit(" got "), F.col("msg"), F.lit(" again (copy "), F.col("copy"), F.lit(")"))
            .alias("detail"),
        )
    )  # fmt: skip
