"""Was the network broken as the log says? A fault that did not bite, or a machine too busy to tell, proves nothing."""

from __future__ import annotations

from controller.audit.evidence import Evidence
from controller.audit.findings import UNKNOWN, Findings, Violation, told


def find(evidence: Evidence) -> Findings:
    return told([Violation(UNKNOWN, doubt) for doubt in evidence.facts.doubts])
