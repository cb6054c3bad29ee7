"""The machine kept up: no broker stood still for longer than a fault explains.

A host that is too busy makes faults of its own, which nobody wrote down: silences, late timers, late faults.
"""

from __future__ import annotations

from pyspark.sql import functions as F

from controller.audit.evidence import Evidence
from controller.audit.findings import UNKNOWN, Findings, collect, not_judged
from controller.audit.load import events
from controller.audit.promise import fell_into, spans

LAG_NS_MAX = 2_500_000_000
"""As long as brokers wait until they take a neighbour's silence for an absence."""


def find(evidence: Evidence) -> Findings:
    facts = evidence.facts
    if not any(file.counts.get("sample") for file in facts.files):
        return not_judged("no broker sampled its own state")
    if facts.setting.runtime == "sim":
        return not_judged("in simulated time no machine can be too slow")
    stood = events(evidence.rows, "sample").where(F.col("lag_ns") > LAG_NS_MAX)
    explained = F.lit(False)
    for broker in sorted({w.target for w in facts.windows if w.target.startswith("broker:")}):
        hits = spans([window for window in facts.windows if window.target == broker])
        is_hit = fell_into(hits, F.col("t") - F.col("lag_ns"), F.col("t")).isNotNull()
        explained = explained | ((F.col("node") == broker.partition(":")[2]) & is_hit)
    return collect(
        stood.where(~explained).select(
            F.lit(UNKNOWN).alias("verdict"), F.lit(None).cast("string").alias("client"),
            F.lit(None).cast("string").alias("msg"), F.lit(None).cast("string").alias("sub"), "t",
            F.lit(None).cast("string").alias("fault"), F.lit(False).alias("excused"),
            F.concat(F.lit("this machine was too busy: "), F.col("node"), F.lit(" stood still for "),
                     F.round(F.col("lag_ns") / 1e9, 1), F.lit(" s with "), F.col("queue"),
                     F.lit(" messages waiting, and no fault hit it")).alias("detail"),
        )
    )  # fmt: skip
