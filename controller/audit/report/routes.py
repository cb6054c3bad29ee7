"""A violation's path: how far a message came, as the ways it took and as a list of log lines."""

from __future__ import annotations

import json
from dataclasses import dataclass

from controller.audit.report.model import Hop, RunData, Violation
from controller.text import duration, offset

BRANCHES_MAX = 10
NODES_MAX = 24
HANDLED = "handled there, not passed on"
UNHANDLED = "sent there, never handled"


@dataclass(frozen=True)
class Step:
    after: str
    node: str
    action: str
    other: str
    line: str


@dataclass(frozen=True)
class Branch:
    """One way through the overlay, from where the message came in to where it was last seen."""

    nodes: list[str]
    shared: int
    end: str


@dataclass(frozen=True)
class Story:
    """One violation, ready to be written on the page."""

    violation: Violation
    at: str
    fault: str
    branches: list[Branch]
    unreached: bool
    steps: list[Step]
    gap_after: int | None
    lit: str


def story(violation: Violation, data: RunData, hops_first: int) -> Story:
    start_t = violation.path[0].t if violation.path else 0
    edges = list(dict.fromkeys(edge for hop in violation.path if (edge := _edge(hop))))
    nodes = sorted({hop.node for hop in violation.path})
    labels = {fault.id: fault.label for fault in data.faults}
    handled = {hop.node for hop in violation.path if hop.event == "handle"}
    ends = {broker.name: HANDLED if broker.name in handled else UNHANDLED for broker in data.brokers}
    branches = [] if violation.path_omitted else _branches(edges, ends)
    return Story(
        violation=violation,
        at=offset(violation.t - data.start_t) if violation.t is not None else "",
        fault=labels.get(violation.fault, violation.fault),
        branches=branches,
        unreached=violation.check == "missing" and bool(branches) and violation.client not in {to for _, to in edges},
        steps=[_step(hop, start_t) for hop in violation.path],
        gap_after=hops_first if violation.path_omitted else None,
        lit=json.dumps({"edges": edges, "nodes": nodes, "steps": _lit_steps(violation)}, separators=(",", ":")),
    )


def _lit_steps(violation: Violation) -> list[list[str]]:
    """Where the message was, record by record: the broker, and the edge that it came or went by."""
    return [[hop.node, *(_edge(hop) or ())] for hop in violation.path]


def _step(hop: Hop, start_t: int) -> Step:
    after = duration(hop.t - start_t)
    action, other = hop.event, ""
    if hop.event == "handle" and hop.from_:
        action, other = "handles, from", hop.from_
    elif hop.event == "forward" and hop.to:
        action, other = "forwards to", hop.to
    elif hop.event == "publish":
        action, other = ("publishes at" if hop.to else "publishes"), hop.to
    elif hop.event == "deliver":
        action, other = ("delivers, from" if hop.from_ else "delivers"), hop.from_
    elif hop.to or hop.from_:
        other = f"→ {hop.to}" if hop.to else f"← {hop.from_}"
    return Step(f"+{after}", hop.node, action, other, str(hop.n) if hop.n is not None else "")


def _edge(hop: Hop) -> tuple[str, str] | None:
    if hop.event in ("forward", "publish") and hop.to:
        return hop.from_ if hop.event == "publish" and hop.from_ else hop.node, hop.to
    if hop.event == "handle" and hop.from_:
        return hop.from_, hop.node
    return None


def _branches(edges: list[tuple[str, str]], ends: dict[str, str]) -> list[Branch]:
    """Every way from the start to an end; nothing if the records do not form a tree, or one too big to take in."""
    after: dict[str, list[str]] = {}
    for node, to in edges:
        after.setdefault(node, []).append(to)
    reached = [to for _, to in edges]
    starts = [node for node in after if node not in reached]
    if len(starts) != 1 or len(set(reached)) != len(reached):
        return []
    ways, waiting = [], [starts]
    while waiting:
        way = waiting.pop()
        following = after.get(way[-1])
        if following:
            waiting += [[*way, to] for to in reversed(following)]
        else:
            ways.append(way)
    if len(ways) > BRANCHES_MAX or any(len(way) > NODES_MAX for way in ways):
        return []
    before: list[list[str]] = [[], *ways]
    return [Branch(way, _common(way, last), ends.get(way[-1], "")) for last, way in zip(before, ways, strict=False)]


def _common(way: list[str], other: list[str]) -> int:
    length = 0
    while length < min(len(way), len(other)) and way[length] == other[length]:
        length += 1
    return length
