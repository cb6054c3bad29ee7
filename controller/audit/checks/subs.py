"""A delivery names all required subscriptions at the broker it comes from, no forbidden one, and at least one."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from controller.audit.evidence import Evidence
from controller.audit.findings import FAIL, UNKNOWN, Findings, collect
from controller.audit.oracle import required


def find(evidence: Evidence) -> Findings:
    """Only rightful deliveries: one without any right is `spurious` whatever it names.

    A required subscription that is not named is a loss to that subscription, so a fault can excuse it. A client that
    moves has two brokers for a while; the one that brings a message cannot name what was asked for at the other.
    """
    published_t = F.col("published.t")

    def is_required_here(pair: Column) -> Column:
        return required(pair, published_t, evidence.flight_ns) & (pair["broker"] == F.col("broker"))

    named = (
        evidence.deliveries.where("rightful")
        .withColumn("required", F.filter("pairs", is_required_here))
        .withColumn("wrong", F.array_except("subs", F.col("allowed.sub")))
        .withColumn("left_out", F.array_except(F.col("required.sub"), F.col("subs")))
        .where((F.size("subs") == 0) | (F.size("wrong") > 0) | (F.size("left_out") > 0))
        .withColumn("only_left_out", (F.size("subs") > 0) & (F.size("wrong") == 0))
    )
    excuse = F.when(F.col("only_left_out"), evidence.excuse(published_t))
    loss_untold = F.lit(evidence.facts.losses_untold is not None) & F.col("only_left_out")
    detail = F.concat(
        F.col("client"), F.lit(" got "), F.col("msg"), F.lit(" for ["), F.array_join("subs", ", "), F.lit("]"),
        F.when(F.size("wrong") > 0, F.concat(F.lit(", not allowed: "), F.array_join("wrong", ", "))).otherwise(""),
        F.when(F.size("left_out") > 0, F.concat(F.lit(", left out: "), F.array_join("left_out", ", "))).otherwise(""),
    )  # fmt: skip
    return collect(
        named.select(
            F.when(evidence.untold(F.col("node")) | loss_untold, F.lit(UNKNOWN)).otherwise(F.lit(FAIL))
            .alias("verdict"),
            "client", "msg", F.coalesce(F.get("wrong", F.lit(0)), F.get("left_out", F.lit(0))).alias("sub"),
            F.col("delivered.t").alias("t"),
            F.coalesce(excuse, evidence.fault_at(F.col("delivered.t"))).alias("fault"),
            excuse.isNotNull().alias("excused"), detail.alias("detail"),
        )
    )  # fmt: skip
