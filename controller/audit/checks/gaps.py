"""What a publisher sends arrives without holes, where the promise is by number: `since`, or lossless.

A hole is worse than a loss: the client was given later messages of the publisher, as if there had been no other.
"""

from __future__ import annotations

from pyspark.sql import functions as F

from controller.audit.evidence import Evidence
from controller.audit.findings import FAIL, UNKNOWN, Findings, collect, not_judged
from controller.audit.oracle import required


def find(evidence: Evidence) -> Findings:
    by_number = evidence.subscriptions.where("since is not null and cardinality(since) > 0")
    if evidence.facts.promise == "lossless":
        promised = evidence.subscriptions.select("sub")
    elif by_number.isEmpty():
        return not_judged("no promise by number: the scheme is not lossless, and confirmed nothing with `since`")
    else:
        promised = by_number.select("sub", F.map_keys("since").alias("publishers"))
    published_t = F.col("published.t")
    owed = (
        evidence.duties.withColumn("pair", F.explode("pairs"))
        .where(required(F.col("pair"), published_t, evidence.flight_ns))
        .withColumn("sub", F.col("pair.sub"))
        .join(promised, "sub")
    )
    if "publishers" in promised.columns:
        owed = owed.where(F.array_contains("publishers", F.col("publisher")))
    got = evidence.deliveries.where("genuine")
    reached = got.groupBy("client", "publisher").agg(F.max("seq").alias("reached"))
    holes = (
        owed.join(got.select("client", "msg").distinct(), ["client", "msg"], "left_anti")
        .join(reached, ["client", "publisher"])
        .where("seq < reached")
        .groupBy("client", "msg", "publisher", "seq", "reached", "node", "published")
        .agg(F.min("sub").alias("sub"))
    )
    untold = F.lit(evidence.facts.losses_untold is not None) | evidence.untold(F.col("node"))
    excuse = evidence.excuse(published_t)
    return collect(
        holes.select(
            F.when(untold, F.lit(UNKNOWN)).otherwise(F.lit(FAIL)).alias("verdict"), "client", "msg", "sub",
            published_t.alias("t"), evidence.fault_of_loss(published_t).alias("fault"),
            excuse.isNotNull().alias("excused"),
            F.concat(F.col("client"), F.lit(" was promised "), F.col("msg"), F.lit(", and got "), F.col("publisher"),
                     F.lit(":"), F.col("reached"), F.lit(" without it")).alias("detail"),
        )
    )  # fmt: skip
