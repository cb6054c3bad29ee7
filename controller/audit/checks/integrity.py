"""Can the logs be trusted? Whatever is found here is `unknown`: nobody knows what a damaged log left out."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from controller.audit.evidence import Evidence
from controller.audit.findings import UNKNOWN, Findings, Violation, collect, together, told
from controller.audit.load import events
from controller.audit.oracle import before


def find(evidence: Evidence) -> Findings:
    damage = told([Violation(UNKNOWN, f"{_place(d.file, d.line)}: {d.what}") for d in evidence.facts.damage])
    found = collect(
        _twice(evidence.rows, "publish", "msg")
        .unionAll(_twice(evidence.rows, "subscribe", "sub"))
        .unionAll(_twice(evidence.rows, "advertise", "adv"))
        .unionAll(_misnumbered(evidence.rows))
        .unionAll(_before_publication(evidence.deliveries))
        .unionAll(_out_of_turn(evidence.subscriptions))
    )
    return together(damage, found)


def _place(file: str, line: int) -> str:
    return f"{file} line {line}" if line else file


def _violations(frame: DataFrame, client: Column, msg: Column, sub: Column, t: Column, detail: Column) -> DataFrame:
    return frame.select(
        F.lit(UNKNOWN).alias("verdict"), client.alias("client"), msg.alias("msg"), sub.alias("sub"), t.alias("t"),
        F.lit(None).cast("string").alias("fault"), F.lit(False).alias("excused"), detail.alias("detail"),
    )  # fmt: skip


def _none() -> Column:
    return F.lit(None).cast("string")


def _twice(rows: DataFrame, event: str, key: str) -> DataFrame:
    used = events(rows, event).groupBy(key).agg(
        F.count("*").alias("times"), F.max("t").alias("t"), F.min("client").alias("client")
    ).where("times > 1")  # fmt: skip
    detail = F.concat(F.lit(f"{key} "), F.col(key), F.lit(" was used "), F.col("times"), F.lit(f" times by {event}"))
    msg = F.col("msg") if key == "msg" else _none()
    sub = F.col("sub") if key == "sub" else _none()
    return _violations(used, F.col("client"), msg, sub, F.col("t"), detail)


def _misnumbered(rows: DataFrame) -> DataFrame:
    """`seq` counts the logged publications of a client from 1: a hole tells of a publication that is not there."""
    numbers = events(rows, "publish").groupBy("client").agg(
        F.count_distinct("seq").alias("numbers"), F.min("seq").alias("lowest"), F.max("seq").alias("highest"),
        F.max("t").alias("t"),
        F.count_if(F.col("msg") != F.concat("client", F.lit(":"), "seq")).alias("misnamed"),
    ).where("lowest != 1 or highest != numbers or misnamed > 0")  # fmt: skip
    detail = F.concat(
        F.col("client"), F.lit(" published "), F.col("numbers"), F.lit(" numbers from "), F.col("lowest"),
        F.lit(" to "), F.col("highest"), F.lit(", "), F.col("misnamed"), F.lit(" not named <client>:<seq>"),
    )  # fmt: skip
    return _violations(numbers, F.col("client"), _none(), _none(), F.col("t"), detail)


def _out_of_turn(subscriptions: DataFrame) -> DataFrame:
    """An answer to what was not asked, or before it was."""
    ask, answer = F.col("subscribe"), F.col("established")
    cancel, cancelled = F.col("unsubscribe"), F.col("unsubscribed")
    always = F.lit(True)
    unasked = F.when(answer.isNotNull() & F.coalesce(~before(ask, answer), always), F.lit("established")).when(
        cancelled.isNotNull() & F.coalesce(~before(cancel, cancelled), always), F.lit("unsubscribed")
    )
    odd = subscriptions.withColumn("unasked", unasked).where("unasked is not null")
    detail = F.concat(F.lit("subscription "), F.col("sub"), F.lit(" was "), F.col("unasked"),
                      F.lit(" though nobody had asked for that"))  # fmt: skip
    return _violations(
        odd, F.col("client"), _none(), F.col("sub"), F.coalesce("established.t", "unsubscribed.t"), detail
    )


def _before_publication(deliveries: DataFrame) -> DataFrame:
    early = deliveries.where(F.col("delivered.t") < F.col("published.t"))
    detail = F.concat(F.col("client"), F.lit(" got "), F.col("msg"), F.lit(" before it was published"))
    return _violations(early, F.col("client"), F.col("msg"), _none(), F.col("delivered.t"), detail)
