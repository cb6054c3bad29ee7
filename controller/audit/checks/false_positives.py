"""No publication crosses a link behind which nobody wants it, unless the scheme declares extra traffic."""

from __future__ import annotations

from controller.audit import routes
from controller.audit.evidence import Evidence
from controller.audit.findings import FAIL, UNKNOWN, Findings, not_judged
from controller.audit.hops import about, inside_told, of_hops


def find(evidence: Evidence) -> Findings:
    inside = evidence.inside
    if inside.silence:
        return not_judged(inside.silence)
    found = inside.routes.of(routes.FALSE_POSITIVE)
    if inside.may_send_more:
        crossed, wasted = inside.routes.crossed, inside.routes.counts[routes.FALSE_POSITIVE]
        return not_judged(f"the scheme declares extra traffic: {wasted} of {crossed} hops went towards nobody")
    if found is None:
        return inside_told(evidence)
    told = inside.clients_told and not inside.everything_wanted_at
    sentence = about("a", " sent ", "msg", " to ", "b", ", and nobody behind that link wanted it")
    return of_hops(evidence, found, FAIL if told else UNKNOWN, sentence)
