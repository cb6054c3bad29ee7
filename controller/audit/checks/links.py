"""What one broker sent, its neighbour handled, and nothing else: sessions lose nothing while both live."""

from __future__ import annotations

from pyspark.sql import functions as F

from controller.audit import routes
from controller.audit.evidence import Evidence
from controller.audit.findings import FAIL, UNKNOWN, Findings, Violation, not_judged, together, told
from controller.audit.hops import about, inside_told, of_hops
from controller.audit.inside import Inside


def find(evidence: Evidence) -> Findings:
    inside = evidence.inside
    if inside.silence:
        return not_judged(inside.silence)
    # While the controller's log leaves the faults open, a death may explain what was lost.
    verdict = UNKNOWN if evidence.facts.losses_untold or not inside.clients_told else FAIL
    return together(_publications(evidence, verdict), _control(inside, verdict))


def _publications(evidence: Evidence, verdict: str) -> Findings:
    inside = evidence.inside
    found = inside.routes.of(routes.UNHANDLED, routes.UNFORWARDED)
    if found is None:
        return inside_told(evidence)
    is_lost = F.col("what") == routes.UNHANDLED
    unexplained = found.where(~is_lost | inside.lost_with(F.col("a"), F.col("b"), F.col("t")).isNull())
    sentence = F.when(
        is_lost, about("a", " sent ", "msg", " to ", "b", ", which never handled it, though it lived")
    ).otherwise(about("b", " handled ", "msg", " from ", "a", ", which never sent it"))
    violations = of_hops(evidence, unexplained, verdict, sentence)
    explained = inside.routes.counts[routes.UNHANDLED] + inside.routes.counts[routes.UNFORWARDED]
    explained -= sum(count for (kind, _, _), count in violations.counts.items() if kind == verdict)
    if explained > 0 and not inside.damaged:
        violations.note = f"{explained} hops were lost with what a fault took"
    return violations


def _control(inside: Inside, verdict: str) -> Findings:
    """Of control messages not every one has an id, so they are counted; only where nobody died, which may lose some."""
    if inside.silence_on_control:
        return told([])
    unequal = []
    ways = {(way, kind) for _, way, kind in inside.traffic if kind != "publication"}
    for way, kind in sorted(ways):
        sent, handled = (inside.traffic.get((event, way, kind), 0) for event in ("forward", "handle"))
        if sent != handled and {way.a, way.b} <= inside.steady:
            detail = f"{way.a} sent {sent} messages of kind {kind} to {way.b}, which handled {handled}"
            unequal.append(Violation(UNKNOWN if inside.damaged else verdict, detail))
    return told(unequal)
