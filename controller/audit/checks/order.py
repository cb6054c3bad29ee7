"""A client gets the messages of a publisher in the order of their numbers."""

from __future__ import annotations

from pyspark.sql import Window
from pyspark.sql import functions as F

from controller.audit.evidence import Evidence
from controller.audit.findings import FAIL, Findings, collect

_STREAM = ("client", "said_publisher")


def find(evidence: Evidence) -> Findings:
    """Repeated messages are left to `duplicate`: an out-of-order one is reported once.

    Within a file lines decide, across files strictly smaller times do: equal times order nothing.
    """
    first_copies = evidence.deliveries.where("copy = 1").select(
        *_STREAM, "msg", F.col("said_seq").alias("seq"), "subs", "line",
        F.col("delivered.t").alias("t"), F.col("delivered.file").alias("file"), F.col("delivered.n").alias("n"),
    )  # fmt: skip
    in_file = Window.partitionBy(*_STREAM, "file").orderBy("n", "line").rowsBetween(Window.unboundedPreceding, -1)
    earlier = Window.partitionBy(*_STREAM).orderBy("t").rangeBetween(Window.unboundedPreceding, -1)
    everywhere = Window.partitionBy(*_STREAM)
    several_files = F.min("file").over(everywhere) != F.max("file").over(everywhere)
    late = first_copies.withColumn(
        "overtaken_by",
        F.greatest(F.max("seq").over(in_file), F.when(several_files, F.max("seq").over(earlier))),
    ).where(F.col("seq") <= F.col("overtaken_by"))
    return collect(
        late.select(
            F.lit(FAIL).alias("verdict"),
            "client", "msg", F.get("subs", F.lit(0)).alias("sub"), "t",
            evidence.fault_at(F.col("t")).alias("fault"), F.lit(False).alias("excused"),
            F.concat(F.col("client"), F.lit(" got "), F.col("msg"), F.lit(" after number "), F.col("overtaken_by"),
                     F.lit(" of "), F.col("said_publisher")).alias("detail"),
        )
    )  # fmt: skip
