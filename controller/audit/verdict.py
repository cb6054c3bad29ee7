"""The verdict, and the files it is written to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from controller.audit.evidence import Evidence
from controller.audit.facts import Phase, RunFacts
from controller.audit.findings import PASS, Findings, worst
from controller.audit.paths import STEP

EXIT_STATUS = {"pass": 0, "fail": 1, "unknown": 2}
ROWS_FOR_PEOPLE_MAX = 1000
CONGESTED_TOLD_MAX = 20
_VIOLATIONS = pa.schema([
    ("check", pa.string()), ("verdict", pa.string()), ("client", pa.string()), ("msg", pa.string()),
    ("sub", pa.string()), ("t", pa.int64()), ("fault", pa.string()), ("excused", pa.bool_()),
    ("detail", pa.string()), ("path", pa.list_(STEP)),
])  # fmt: skip


class CheckResult(msgspec.Struct):
    name: str
    verdict: str
    violations: int
    excused: int
    summary: str


class NotJudged(msgspec.Struct):
    """A check that had nothing to look at in this run, and why."""

    name: str
    why: str


class FaultResult(msgspec.Struct):
    id: str
    kind: str
    target: str
    apply_t: int
    heal_t: int | None
    settled_t: int | None
    excused: int
    args: dict[str, Any]


class DamageResult(msgspec.Struct):
    file: str
    line: int
    what: str


class Verdict(msgspec.Struct):
    verdict: str
    reasons: list[str]
    checks: list[CheckResult]
    flight_ns: int | None
    counts: dict[str, int]
    span: dict[str, int]
    faults: list[FaultResult]
    phases: list[Phase]
    damage: list[DamageResult]
    not_judged: list[NotJudged]
    congested: list[str]
    """When which broker was congested and why, the worst first."""

    @property
    def exit_status(self) -> int:
        return EXIT_STATUS[self.verdict]


def judge(facts: RunFacts, evidence: Evidence | None, findings: dict[str, Findings], congested: list[str]) -> Verdict:
    checks = [_result(name, found) for name, found in findings.items() if found.judged]
    start_t, end_t = facts.span()
    return Verdict(
        verdict=worst(check.verdict for check in checks),
        reasons=[f"{check.name}: {check.summary}" for check in checks if check.verdict != PASS],
        checks=checks,
        flight_ns=evidence.flight_ns if evidence else None,
        counts=_counts(facts, evidence),
        span={"start_t": start_t, "end_t": end_t},
        faults=_faults(facts, findings),
        phases=facts.phases,
        damage=[DamageResult(d.file, d.line, d.what) for d in facts.damage],
        not_judged=[NotJudged(name, found.note) for name, found in findings.items() if not found.judged],
        congested=congested[:CONGESTED_TOLD_MAX],
    )


def _result(name: str, found: Findings) -> CheckResult:
    verdict = found.verdict
    if found.violations:
        first = next(v for v in found.listed if not v.excused and v.verdict == verdict)
        more = found.violations - 1
        summary = first.detail + (f" (and {more} more)" if more else "")
    else:
        summary = "nothing found"
    if found.excused:
        summary += f"; {found.excused} excused by faults"
    if found.note:
        summary += f"; {found.note}"
    return CheckResult(name, verdict, found.violations, found.excused, summary)


def _counts(facts: RunFacts, evidence: Evidence | None) -> dict[str, int]:
    brokers = set(facts.brokers) or {file.node for file in facts.files if file.role == "broker"}
    drivers = set(facts.drivers) or {file.node for file in facts.files if file.role == "driver"}
    return {
        "publications": facts.lines("publish"),
        "subscriptions": facts.lines("subscribe"),
        "deliveries": facts.lines("deliver"),
        "pairs_required": evidence.pairs_required if evidence else 0,
        "pairs_permitted": evidence.pairs_permitted if evidence else 0,
        "lines": sum(file.lines for file in facts.files),
        "brokers": len(brokers),
        "drivers": len(drivers),
        "damaged_lines": sum(file.damaged_lines for file in facts.files),
    }


def _faults(facts: RunFacts, findings: dict[str, Findings]) -> list[FaultResult]:
    excused: dict[str | None, int] = {}
    for found in findings.values():
        for (_, fault, is_excused), count in found.counts.items():
            excused[fault] = excused.get(fault, 0) + (count if is_excused else 0)
    return [
        FaultResult(w.id, w.kind, w.target, w.apply_t, w.heal_t, w.settled_t, excused.get(w.id, 0), w.args)
        for w in facts.windows
    ]


def write(
    folder: Path,
    verdict: Verdict,
    findings: dict[str, Findings],
    paths: dict[str, list[dict[str, Any]]],
    congestion: dict[str, pa.Table],
) -> None:
    """The verdict last: where it stands, everything else does."""
    folder.mkdir(exist_ok=True)
    rows = [
        {"check": name, **msgspec.structs.asdict(violation), "path": paths.get(violation.msg or "", [])}
        for name, found in findings.items()
        for violation in found.listed
    ]
    pq.write_table(pa.Table.from_pylist(rows, _VIOLATIONS), folder / "violations.parquet")
    (folder / "violations.json").write_bytes(_for_people(rows[:ROWS_FOR_PEOPLE_MAX]))
    for name, table in congestion.items():
        pq.write_table(table, folder / f"{name}.parquet")
    (folder / "verdict.json").write_bytes(_for_people(verdict))


def _for_people(value: Any) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n"
