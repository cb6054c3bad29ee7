"""What was required and did not arrive."""

from __future__ import annotations

from pyspark.sql import functions as F

from controller.audit.evidence import Evidence
from controller.audit.findings import FAIL, UNKNOWN, Findings, collect
from controller.audit.oracle import required


def find(evidence: Evidence) -> Findings:
    published_t = F.col("published.t")
    lost = (
        evidence.duties.withColumn(
            "required", F.filter("pairs", lambda pair: required(pair, published_t, evidence.flight_ns))
        )
        .where(F.size("required") > 0)
        .join(evidence.deliveries.select("client", "msg").distinct(), ["client", "msg"], "left_anti")
    )
    untold = F.lit(True) if evidence.facts.losses_untold else evidence.untold(F.col("node"))
    excuse = evidence.excuse(published_t)
    detail = F.concat(
        F.col("client"), F.lit(" did not get "), F.col("msg"), F.lit(", published by "), F.col("publisher"),
        F.lit(" and required by "), F.array_join("required.sub", ", "),
        F.coalesce(F.concat(F.lit("; excused by fault "), excuse), F.lit("")),
    )  # fmt: skip
    return collect(
        lost.select(
            F.when(untold, F.lit(UNKNOWN)).otherwise(F.lit(FAIL)).alias("verdict"),
            "client", "msg", F.get("required.sub", F.lit(0)).alias("sub"), published_t.alias("t"),
            evidence.fault_of_loss(published_t).alias("fault"),
            excuse.isNotNull().alias("excused"), detail.alias("detail"),
        )
    )  # fmt: skip
