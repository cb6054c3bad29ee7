"""Losses are excused only by deaths that happened, and something must be left that no fault excuses."""

from __future__ import annotations

from pyspark.sql import functions as F

from controller.audit.evidence import Evidence
from controller.audit.facts import CONTROLLER, RunFacts
from controller.audit.findings import UNKNOWN, Findings, Violation, told
from controller.audit.oracle import required
from controller.audit.promise import DEATHS, Window, excusing
from controller.audit.scan import FileFacts

SLACK_NS = 1_000_000_000
"""The controller writes down a death when it has seen it, or just before."""


def find(evidence: Evidence) -> Findings:
    facts = evidence.facts
    deaths = [window for window in facts.windows if window.kind in DEATHS]
    found = told([Violation(UNKNOWN, why, fault=w.id, t=w.apply_t) for w in deaths if (why := _doubt(w, facts))])
    # The controller calls a scheme from elsewhere by its address, nodes by its name.
    by_nodes = (file.scheme for file in facts.files if file.node != CONTROLLER)
    schemes = sorted({scheme for scheme in by_nodes if scheme is not None})
    if len(schemes) > 1:
        found.add(Violation(UNKNOWN, f"the logs name several schemes: {', '.join(schemes)}"))
    excuses = excusing(facts.promise, facts.windows)
    if excuses and evidence.pairs_required and not _is_anything_at_stake(evidence):
        found.add(Violation(UNKNOWN, "every required delivery fell into a window that excuses its loss"))
    if facts.promise is not None:
        what = f"losses are excused in {len(excuses)} windows" if excuses else "no loss is excused"
        found.note = f"{facts.promise}: {what}"
    return found


def _is_anything_at_stake(evidence: Evidence) -> bool:
    published_t = F.col("published.t")
    owed = evidence.duties.where(F.exists("pairs", lambda pair: required(pair, published_t, evidence.flight_ns))).where(
        evidence.excuse(published_t).isNull()
    )
    return not owed.isEmpty()


def _doubt(death: Window, facts: RunFacts) -> str | None:
    """Why a recorded death may not have happened, so that it should excuse nothing."""
    kind, _, broker = death.target.partition(":")
    if kind != "broker" or (facts.brokers and broker not in facts.brokers):
        return f"fault {death.id} is a {death.kind} of {death.target}, which is no broker"
    lives = [file for file in facts.files if file.node == broker]
    survivor = next((life for life in lives if _outlived(life, death)), None)
    if survivor is not None:
        return f"fault {death.id} says that {broker} died, but {survivor.file} goes on as if it had not"
    return None


def _outlived(life: FileFacts, death: Window) -> bool:
    if life.first_t is None or life.last_t is None:
        return False
    return life.first_t < death.apply_t and life.last_t > death.apply_t + SLACK_NS
