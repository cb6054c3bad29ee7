"""What the checks inside the network have in common: how a hop is told of, and what damage leaves open."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from controller.audit.evidence import Evidence
from controller.audit.findings import UNKNOWN, Findings, Violation, collect, together, told

_NAMED = ("a", "b", "msg", "count")


def about(*parts: str) -> Column:
    """A sentence of words and of the columns of a hop."""
    return F.concat(*[F.col(part) if part in _NAMED else F.lit(part) for part in parts])


def inside_told(evidence: Evidence) -> Findings:
    """Nobody knows what a damaged log of a broker left out."""
    damaged = evidence.inside.damaged
    if not damaged:
        return told([])
    return told(
        [Violation(UNKNOWN, f"the log of {', '.join(damaged)} is damaged, so what happened there is not known")]
    )


def of_hops(evidence: Evidence, found: DataFrame, verdict: str, detail: Column) -> Findings:
    """One violation for each hop."""
    violations = collect(
        found.select(
            F.lit(UNKNOWN if evidence.inside.damaged else verdict).alias("verdict"),
            F.lit(None).cast("string").alias("client"), "msg", F.lit(None).cast("string").alias("sub"), "t",
            evidence.fault_at(F.col("t")).alias("fault"), F.lit(False).alias("excused"),
            detail.alias("detail"),
        )
    )  # fmt: skip
    return together(inside_told(evidence), violations)
