"""Publications that their publisher's advertisements do not cover: nothing is promised for those."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from controller.audit.load import events
from controller.audit.oracle import before, position


def unadvertised(rows: DataFrame, matched: DataFrame, published: DataFrame) -> DataFrame:
    """Messages (publisher, msg, published) of clients that advertise, but not under what was confirmed at the time."""
    life = events(rows, "advertise", "advertised", "unadvertise").groupBy("adv").agg(
        F.min_by("client", position()).alias("publisher"), F.min_by("filter", position()).alias("filter"),
        F.min_by("lang", position()).alias("lang"),
        F.min(F.when(F.col("event") == "advertised", position())).alias("advertised"),
        F.min(F.when(F.col("event") == "unadvertise", position())).alias("unadvertise"),
    )  # fmt: skip
    advertised = before(F.col("advertised"), F.col("published"))
    still = F.col("unadvertise").isNull() | before(F.col("published"), F.col("unadvertise"))
    covered = (
        matched.where("only is not null")
        .withColumnRenamed("only", "publisher")
        .join(life, ["publisher", "filter", "lang"])
        .join(published.select("k", "msg", "published"), "k")
        .where(advertised & still)
        .select("msg")
    )
    return (
        published.join(life.select("publisher").distinct(), "publisher", "left_semi")
        .join(covered, "msg", "left_anti")
        .select("publisher", "msg", "published")
    )
