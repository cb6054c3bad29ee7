"""No broker meets a publication twice where there is one way only; elsewhere no more often than it has neighbours."""

from __future__ import annotations

from pyspark.sql import functions as F

from controller.audit import routes
from controller.audit.evidence import Evidence
from controller.audit.findings import FAIL, Findings, not_judged
from controller.audit.hops import about, inside_told, of_hops


def find(evidence: Evidence) -> Findings:
    inside = evidence.inside
    if inside.silence:
        return not_judged(inside.silence)
    found = inside.routes.of(routes.LOOP)
    if found is None:
        return inside_told(evidence)
    # A lossless scheme sends again what a fault may have cost; otherwise nothing makes up for a second visit.
    if evidence.facts.promise == "lossless":
        found = found.where(inside.lost_with(F.col("a"), F.col("b"), F.col("t")).isNull())
    return of_hops(evidence, found, FAIL, about("b", " handled ", "msg", " ", "count", " times, at last from ", "a"))
