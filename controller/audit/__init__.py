"""The audit: reads the logs of a run, and says pass, fail or unknown.

with session():                      # optional: one Spark session for several runs
    verdict = audit(Path("runs/latest"))
sys.exit(verdict.exit_status)
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pyspark.sql import SparkSession

from controller.audit import congestion, evidence, facts, load, paths
from controller.audit.checks import CHECKS
from controller.audit.evidence import Evidence
from controller.audit.findings import UNKNOWN, Check, Findings, Violation, told
from controller.audit.session import session, tune
from controller.audit.verdict import Verdict, judge, write

__all__ = ["Verdict", "audit", "session"]

Progress = Callable[[str], None]


def audit(run: Path, *, spark_master: str | None = None, progress: Progress | None = None) -> Verdict:
    """Judges a run directory that keeps the log contract, and writes RUN/tables and RUN/audit."""
    say = progress or (lambda _: None)
    files, misnamed = load.log_files(run)
    say("starting Spark")
    with session(spark_master) as spark:
        return _audit(spark, run, files, misnamed, say)


def _audit(spark: SparkSession, run: Path, files: list[load.LogFile], misnamed: list[str], say: Progress) -> Verdict:
    tune(spark, sum(file.size for file in files))
    tables = run / "tables"
    say(f"reading {len(files)} logs")
    rows = load.load(spark, files, tables)
    known = facts.gather(run, load.file_facts(tables), misnamed, tables)
    say("working out who had to get what")
    found_out = evidence.build(known, rows)
    findings = {}
    for check in CHECKS:
        say(f"checking {check.name}")
        findings[check.name] = _run(check, found_out)
    slow = congestion.measure(found_out, say)
    ways = paths.paths(rows, _messages(findings))
    verdict = judge(known, found_out, findings, [one.sentence for one in slow.intervals])
    write(run / "audit", verdict, findings, ways, slow.tables)
    return verdict


def _run(check: Check, found_out: Evidence) -> Findings:
    try:
        return check.find(found_out)
    # A check may break in any way, and the others must still be heard: its failure is an `unknown` with a reason.
    except Exception as problem:  # noqa: BLE001 (this function owns it)
        reason = f"the check broke: {type(problem).__name__}: {str(problem).splitlines()[0] if str(problem) else ''}"
        return told([Violation(UNKNOWN, reason)])


def _messages(findings: dict[str, Findings]) -> list[str]:
    named = (v.msg for found in findings.values() for v in found.listed if v.msg is not None)
    return list(dict.fromkeys(named))
