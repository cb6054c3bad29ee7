"""The faults of a campaign file as a timetable: single targets, each with its time to break and to heal."""

from __future__ import annotations

from random import Random
from typing import Annotated, Any

from msgspec import Meta, Struct
from msgspec.structs import fields

from controller import faults
from controller.errors import UsageError
from controller.faults import FaultKind, targets
from controller.topology import Topology
from controller.yamlfile import Document, known

Seconds = Annotated[int, Meta(ge=0, le=86_400)] | Annotated[float, Meta(ge=0, le=86_400)]
Period = Annotated[int, Meta(gt=0, le=86_400)] | Annotated[float, Meta(gt=0, le=86_400)]
EVENTS_MAX = 10_000


class FaultEvent(Struct, frozen=True):
    """Seconds count from the start of the load phase; without `until_s` it lasts until everything is healed."""

    at_s: int | float
    until_s: int | float | None
    kind: str
    target: str
    args: dict[str, Any]


class RawFault(Struct, frozen=True):
    """Other keys are the kind's own arguments."""

    kind: str
    target: str
    at_s: Seconds | None = None
    every_s: Period | None = None
    for_s: Period | None = None


def events(document: Document, topology: Topology, seed: int, load_s: float) -> tuple[FaultEvent, ...]:
    """In order of time; a random target is drawn anew each time its fault comes."""
    made: list[FaultEvent] = []
    for index in range(len(document.data)):
        fault = document.part([index])
        raw = fault.convert(RawFault)
        kind = _kind(fault, raw)
        _check_times(fault, raw, kind, load_s)
        args = _arguments(fault, kind)
        for turn, at_s in enumerate(_times(raw, load_s)):
            until_s = at_s + raw.for_s if raw.for_s and at_s + raw.for_s < load_s else None
            hit = _targets(fault, raw.target, kind, topology, Random(f"{seed}/faults/{index}/{turn}"))
            made.extend(FaultEvent(at_s, until_s, raw.kind, target, args) for target in hit)
            if len(made) > EVENTS_MAX:
                raise fault.problem([], f"more than {EVENTS_MAX} faults; make every_s longer or the target smaller")
        _check_overlap(fault, made)
    return tuple(sorted(made, key=lambda event: event.at_s))


def _kind(fault: Document, raw: RawFault) -> FaultKind:
    if raw.kind not in faults.names():
        raise fault.problem(["kind"], f"no fault kind `{raw.kind}`; {known(raw.kind, faults.names())}")
    return faults.find(raw.kind)


def _arguments(fault: Document, kind: FaultKind) -> dict[str, Any]:
    """What is said beyond the times; the fault's own type judges it."""
    own = [field.encode_name for field in fields(kind.Arguments)]
    common = RawFault.__struct_fields__
    for key in fault.data:
        if key not in common and key not in own:
            raise fault.problem([key], f"unknown key `{key}` of {kind.kind}; {known(key, [*common, *own])}")
    alone = fault
    for key in common:
        alone = alone.without(key)
    alone.convert(kind.Arguments)
    return dict(alone.data)


def _times(raw: RawFault, load_s: float) -> list[int | float]:
    if raw.every_s is None:
        return [raw.at_s or 0]
    first = raw.every_s if raw.at_s is None else raw.at_s
    turns = int((load_s - first) / raw.every_s) + 1
    return [at_s for turn in range(min(turns, EVENTS_MAX + 1)) if (at_s := first + turn * raw.every_s) < load_s]


def _targets(fault: Document, selector: str, kind: FaultKind, topology: Topology, random: Random) -> tuple[str, ...]:
    if not selector.startswith(f"{kind.on}:"):
        told = f"{kind.kind} hits a {kind.on}, not `{selector}`; write one of {targets.FORMS}"
        raise fault.problem(["target"], told)
    try:
        return targets.resolve(selector, topology, random)
    except UsageError as error:
        raise fault.problem(["target"], str(error)) from None


def _check_times(fault: Document, raw: RawFault, kind: FaultKind, load_s: float) -> None:
    if raw.at_s is not None and raw.at_s >= load_s:
        raise fault.problem(["at_s"], f"at_s is {raw.at_s:g}, but load ends after {load_s:g} s; begin earlier")
    if kind.heals_at_once and raw.for_s is not None:
        raise fault.problem(["for_s"], f"{kind.kind} is over at once; leave for_s out")
    if raw.every_s is None:
        return
    if raw.every_s >= load_s:
        raise fault.problem(["every_s"], f"it comes never: every_s must be less than load_s, {load_s:g}")
    if not kind.heals_at_once and (raw.for_s is None or raw.for_s >= raw.every_s):
        raise fault.problem(["every_s"], "a fault that comes again needs for_s, less than every_s")


def _check_overlap(fault: Document, made: list[FaultEvent]) -> None:
    """A dead or paused broker cannot be hit once more; on links later faults outweigh earlier ones."""
    last: dict[str, FaultEvent] = {}
    for event in sorted(made, key=lambda one: one.at_s):
        kind = faults.find(event.kind)
        if kind.on != "broker":
            continue
        before = last.get(event.target)
        if before is not None and (before.until_s is None or before.until_s > event.at_s):
            told = f"{event.kind} of {event.target} at {event.at_s:g} s comes before the {before.kind} is healed"
            raise fault.problem([], f"{told}; choose other times, or another target")
        if not kind.heals_at_once:
            last[event.target] = event
