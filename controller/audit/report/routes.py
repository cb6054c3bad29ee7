"""A violation's path: how far a message came, as a chain of nodes and as a list of log lines."""

from __future__ import annotations

import json
from dataclasses import dataclass

from controller.audit.report.model import Hop, RunData, Violation
from controller.audit.report.text import duration, offset

CHAIN_MAX = 24


@dataclass(frozen=True)
class Step:
    after: str
    node: str
    action: str
    other: str
    line: str


@dataclass(frozen=True)
class Story:
    """One violation, ready to be written on the page."""

    violation: Violation
    at: str
    fault: str
    chain: list[str]
    reached: bool
    steps: list[Step]
    gap_after: int | None
    lit: str


def story(violation: Violation, data: RunData, hops_first: int) -> Story:
    start_t = violation.path[0].t if violation.path else 0
    chain = _chain(violation.path)
    labels = {fault.id: fault.label for fault in data.faults}
    edges = sorted({edge for hop in violation.path if (edge := _edge(hop))})
    nodes = sorted({hop.node for hop in violation.path})
    return Story(
        violation=violation,
        at=offset(violation.t - data.start_t) if violation.t is not None else "",
        fault=labels.get(violation.fault, violation.fault),
        chain=chain,
        reached=not chain or chain[-1] == violation.client,
        steps=[_step(hop, start_t) for hop in violation.path],
        gap_after=hops_first if violation.path_omitted else None,
        lit=json.dumps({"edges": edges, "nodes": nodes}, separators=(",", ":")),
    )


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


def _chain(path: tuple[Hop, ...]) -> list[str]:
    """The nodes one after the other, if the message took a single way; else nothing, and the list has to do."""
    after: dict[str, str] = {}
    for hop in path:
        edge = _edge(hop)
        if edge is None:
            continue
        if after.setdefault(edge[0], edge[1]) != edge[1]:
            return []
    starts = [node for node in after if node not in after.values()]
    if len(starts) != 1 or len(set(after.values())) != len(after):
        return []
    chain = [starts[0]]
    while chain[-1] in after:
        chain.append(after[chain[-1]])
    return chain if len(chain) == len(after) + 1 and len(chain) <= CHAIN_MAX else []
