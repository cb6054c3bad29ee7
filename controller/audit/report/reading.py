"""A run directory's JSON files as the page's model. Missing keys are empty, never a crash: logs come from strangers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from controller.audit.report import tables
from controller.audit.report.model import Broker, Check, Damage, Fault, Link, Phase, RunData, Verdict
from controller.audit.report.samples import samples
from controller.errors import UsageError
from controller.text import NS_PER_S, clean, clean_all, whole

REASONS_MAX = 40
CHECKS_MAX = 60
FAULTS_MAX = 300
PHASES_MAX = 60
DAMAGE_MAX = 200
BROKERS_MAX = 1000
LINKS_MAX = 4000


def read_run(run: Path, violations_max: int) -> RunData:
    verdict = _object(run / "audit" / "verdict.json")
    topology = _readable(run / "topology.json")
    facts = _readable(run / "run.json")
    faults = _faults(_list(verdict, "faults"))
    phases = tuple(phase for item in _list(verdict, "phases")[:PHASES_MAX] if (phase := _phase(item)))
    audit = tables.Tables(run / "audit")
    span = _span(verdict, faults, phases, audit)
    start_t, end_t = span or (0, NS_PER_S)
    damage = _list(verdict, "damage")
    found = audit.violations(violations_max)
    return RunData(
        name=clean(run.resolve().name),
        verdict=_verdict(verdict.get("verdict")),
        reasons=tuple(clean(reason) for reason in _raw_list(verdict, "reasons")[:REASONS_MAX]),
        checks=tuple(_check(item) for item in _list(verdict, "checks")[:CHECKS_MAX]),
        flight_ns=whole(verdict.get("flight_ns")),
        counts={name: number for name, raw in _inner(verdict, "counts").items() if (number := whole(raw)) is not None},
        start_t=start_t,
        end_t=end_t,
        span_known=span is not None,
        faults=faults[:FAULTS_MAX],
        faults_total=len(faults),
        phases=phases,
        damage=tuple(_damage(item) for item in damage[:DAMAGE_MAX]),
        damage_total=len(damage),
        run=facts,
        brokers=_brokers(topology),
        links=_links(topology),
        delay=audit.delay(start_t, end_t),
        delay_total=audit.delay_total(),
        queue=audit.queue(start_t, end_t),
        loads=audit.loads(),
        link_load=audit.link_load(),
        samples=samples(run) if violations_max else (),
        broken=found["broken"],
        doubtful=found["doubtful"],
        excused=found["excused"],
        absent=audit.absent(),
    )


def _readable(path: Path) -> dict[str, Any]:
    """What somebody else wrote: if it cannot be read the audit has said so, and the page shows what there is."""
    try:
        return _object(path)
    except UsageError:
        return {}


def _object(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text(encoding="utf-8", errors="replace"))
    except FileNotFoundError:
        raise UsageError(
            f"{path} does not exist: no audit has judged this run yet; `brokerlab audit {path.parent.parent}` does"
        ) from None
    except (json.JSONDecodeError, RecursionError) as problem:
        raise UsageError(f"{path} is not a JSON file ({problem}); repeat the audit, or mend the file") from None
    if not isinstance(value, dict):
        raise UsageError(f"{path} holds no JSON object; repeat the audit, or mend the file")
    cleaned: dict[str, Any] = clean_all(value)
    return cleaned


def _raw_list(holder: dict[str, Any], name: str) -> list[Any]:
    value = holder.get(name)
    return value if isinstance(value, list) else []


def _list(holder: dict[str, Any], name: str) -> list[dict[str, Any]]:
    return [item for item in _raw_list(holder, name) if isinstance(item, dict)]


def _inner(holder: dict[str, Any], name: str) -> dict[str, Any]:
    value = holder.get(name)
    return value if isinstance(value, dict) else {}


def _text(holder: dict[str, Any], name: str) -> str:
    value = holder.get(name)
    return "" if value is None else clean(value)


def _verdict(value: object) -> Verdict:
    """Whatever is not a verdict we know is not a pass."""
    if value == "pass":
        return "pass"
    return "fail" if value == "fail" else "unknown"


def _check(item: dict[str, Any]) -> Check:
    return Check(
        name=_text(item, "name") or "unnamed check",
        verdict=_verdict(item.get("verdict")),
        violations=whole(item.get("violations")) or 0,
        excused=whole(item.get("excused")) or 0,
        summary=_text(item, "summary"),
    )


def _faults(items: list[dict[str, Any]]) -> tuple[Fault, ...]:
    faults = []
    for item in items:
        apply_t = whole(item.get("apply_t"))
        if apply_t is None:
            continue
        faults.append(
            Fault(
                id=_text(item, "id"),
                kind=_text(item, "kind") or "fault",
                target=_text(item, "target"),
                apply_t=apply_t,
                heal_t=whole(item.get("heal_t")),
                settled_t=whole(item.get("settled_t")),
                excused=whole(item.get("excused")) or 0,
                args=_inner(item, "args"),
            )
        )
    return tuple(sorted(faults, key=lambda fault: (fault.apply_t, fault.target, fault.id)))


def _phase(item: dict[str, Any]) -> Phase | None:
    start_t, end_t = whole(item.get("start_t")), whole(item.get("end_t"))
    if start_t is None or (end_t is not None and end_t < start_t):
        return None
    return Phase(_text(item, "name"), start_t, end_t)


def _damage(item: dict[str, Any]) -> Damage:
    return Damage(_text(item, "file"), whole(item.get("line")) or None, _text(item, "what"))


def _brokers(topology: dict[str, Any]) -> tuple[Broker, ...]:
    named: dict[str, Broker] = {}
    for item in _list(topology, "brokers"):
        if name := _text(item, "name"):
            named.setdefault(name, Broker(name, _text(item, "role"), _text(item, "group")))
    return tuple(named.values())[:BROKERS_MAX]


def _links(topology: dict[str, Any]) -> tuple[Link, ...]:
    links: dict[tuple[str, str], Link] = {}
    for item in _list(topology, "links"):
        a, b = _text(item, "a"), _text(item, "b")
        delay_ms: Any = item.get("delay_ms")
        if a and b and a != b and (b, a) not in links:
            links.setdefault((a, b), Link(a, b, float(delay_ms) if whole(delay_ms) is not None else 0.0))
    return tuple(links.values())[:LINKS_MAX]


def _span(
    verdict: dict[str, Any], faults: tuple[Fault, ...], phases: tuple[Phase, ...], audit: tables.Tables
) -> tuple[int, int] | None:
    span = _inner(verdict, "span")
    start_t, end_t = whole(span.get("start_t")), whole(span.get("end_t"))
    if start_t is None or end_t is None:
        moments = [t for phase in phases for t in (phase.start_t, phase.end_t) if t is not None]
        moments += [t for fault in faults for t in (fault.apply_t, fault.heal_t, fault.settled_t) if t is not None]
        moments += audit.moments()
        start_t, end_t = min(moments, default=0), max(moments, default=0)
    return (start_t, end_t) if end_t > start_t else None
