"""A publication takes the ideal delivery tree: no link twice, none back, none that is not there.

What crosses a link behind which nobody wants it is left to `false-positives`.
"""

from __future__ import annotations

from pyspark.sql import functions as F

from controller.audit import routes
from controller.audit.evidence import Evidence
from controller.audit.findings import FAIL, UNKNOWN, Findings, not_judged
from controller.audit.hops import about, inside_told, of_hops


def find(evidence: Evidence) -> Findings:
    """Where there are several ways the shortest is ideal, but another one no offence: only what is sent again is."""
    inside = evidence.inside
    if inside.silence:
        return not_judged(inside.silence)
    if inside.may_send_more:
        crossed, needed = inside.routes.crossed, inside.routes.needed
        return not_judged(f"the scheme declares extra traffic: {crossed} hops, where {needed} were needed")
    wrong = (routes.AGAIN, routes.STRANGE, *((routes.ASTRAY,) if inside.overlay.has_one_way else ()))
    found = inside.routes.of(*wrong)
    if found is None:
        return inside_told(evidence)
    how = (
        F.when(F.col("what") == routes.AGAIN, F.lit(" once more"))
        .when(F.col("what") == routes.STRANGE, F.lit(", where the topology has no link"))
        .otherwise(F.lit(", back towards where it was published"))
    )
    sentence = F.concat(about("a", " sent ", "msg", " to ", "b"), how)
    return of_hops(evidence, found, FAIL if inside.clients_told else UNKNOWN, sentence)
