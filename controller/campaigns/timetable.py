"""The faults of a campaign file as a timetable: single targets, each with its time to break and to heal."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Annotated, Any

from msgspec import Meta, Struct, field
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
    name: str | None = None
    """For others that are to come while this one lasts."""
    at_s: Seconds | None = None
    every_s: Period | None = None
    poisson_s: Period | None = None
    """Comes by chance, so many seconds apart on average."""
    for_s: Period | None = None
    while_: str | None = field(name="while", default=None)
    """The name of a fault above: this one comes and goes with it, at_s later."""
    in_turn: bool = False
    """Hits one of its targets each time it comes, the next one the next time."""


_COMMON = tuple(one.encode_name for one in fields(RawFault))
Clients = Callable[[], tuple[str, ...]]


class _Turn(Struct, frozen=True):
    """Once that a fault comes."""

    at_s: int | float
    until_s: int | float | None


def events(
    document: Document, topology: Topology, seed: int, load_s: float, clients: Clients = tuple
) -> tuple[FaultEvent, ...]:
    """In order of time; a random target is drawn anew each time its fault comes."""
    made: list[FaultEvent] = []
    named: dict[str, list[_Turn]] = {}
    for index in range(len(document.data)):
        fault = document.part([index])
        raw = fault.convert(RawFault)
        kind = _kind(fault, raw)
        _check_times(fault, raw, kind, load_s)
        args = _arguments(fault, kind)
        turns = _turns(fault, raw, named, load_s, Random(f"{seed}/faults/{index}/times"))
        if raw.name is not None:
            named[raw.name] = turns
        for number, turn in enumerate(turns):
            random = Random(f"{seed}/faults/{index}/{number}")
            hit = _targets(fault, raw.target, kind, topology, random, clients)
            if raw.in_turn:
                hit = (hit[number % len(hit)],)
            made.extend(FaultEvent(turn.at_s, turn.until_s, raw.kind, target, args) for target in hit)
            if len(made) > EVENTS_MAX:
                raise fault.problem([], f"more than {EVENTS_MAX} faults; make every_s longer or the target smaller")
    return tuple(sorted(made, key=lambda event: event.at_s))


def _turns(fault: Document, raw: RawFault, named: dict[str, list[_Turn]], load_s: float, random: Random) -> list[_Turn]:
    if raw.while_ is not None:
        if raw.while_ not in named:
            told = f"no fault above is named `{raw.while_}`; {known(raw.while_, named)}"
            raise fault.problem(["while"], told)
        late = raw.at_s or 0
        return [
            _Turn(one.at_s + late, one.until_s)
            for one in named[raw.while_]
            if one.at_s + late < (load_s if one.until_s is None else one.until_s)
        ]
    times = _by_chance(raw, load_s, random) if raw.poisson_s is not None else _times(raw, load_s)
    return [
        _Turn(at_s, at_s + raw.for_s if raw.for_s is not None and at_s + raw.for_s < load_s else None) for at_s in times
    ]


def _by_chance(raw: RawFault, load_s: float, random: Random) -> list[int | float]:
    assert raw.poisson_s is not None
    at_s = float(raw.at_s or 0)
    found: list[int | float] = []
    while len(found) <= EVENTS_MAX and (at_s := at_s + random.expovariate(1 / raw.poisson_s)) < load_s:
        found.append(round(at_s, 3))
    return found


def _kind(fault: Document, raw: RawFault) -> FaultKind:
    if raw.kind not in faults.names():
        raise fault.problem(["kind"], f"no fault kind `{raw.kind}`; {known(raw.kind, faults.names())}")
    return faults.find(raw.kind)


def _arguments(fault: Document, kind: FaultKind) -> dict[str, Any]:
    """What is said beyond the times; the fault's own type judges it."""
    own = [field.encode_name for field in fields(kind.Arguments)]
    for key in fault.data:
        if key not in _COMMON and key not in own:
            raise fault.problem([key], f"unknown key `{key}` of {kind.kind}; {known(key, [*_COMMON, *own])}")
    alone = fault
    for key in _COMMON:
        alone = alone.without(key)
    try:
        kind.check_more(alone.convert(kind.Arguments))
    except UsageError as error:
        raise fault.problem([], str(error).removeprefix(f"fault {kind.kind}: ")) from None
    return dict(alone.data)


def _times(raw: RawFault, load_s: float) -> list[int | float]:
    if raw.every_s is None:
        return [raw.at_s or 0]
    first = raw.every_s if raw.at_s is None else raw.at_s
    turns = int((load_s - first) / raw.every_s) + 1
    return [at_s for turn in range(min(turns, EVENTS_MAX + 1)) if (at_s := first + turn * raw.every_s) < load_s]


def _targets(
    fault: Document, selector: str, kind: FaultKind, topology: Topology, random: Random, clients: Clients
) -> tuple[str, ...]:
    chosen = targets.for_partition(selector) if kind.kind == "partition" else selector
    if chosen.partition(":")[0] not in kind.on:
        told = f"{kind.kind} hits a {kind.targets}, not `{selector}`; write one of {targets.FORMS}"
        raise fault.problem(["target"], told)
    try:
        return targets.resolve(chosen, topology, random, clients)
    except UsageError as error:
        raise fault.problem(["target"], str(error)) from None


def _check_times(fault: Document, raw: RawFault, kind: FaultKind, load_s: float) -> None:
    if raw.at_s is not None and raw.at_s >= load_s:
        raise fault.problem(["at_s"], f"at_s is {raw.at_s:g}, but load ends after {load_s:g} s; begin earlier")
    if kind.heals_at_once and raw.for_s is not None:
        raise fault.problem(["for_s"], f"{kind.kind} is over at once; leave for_s out")
    several = [key for key in ("every_s", "poisson_s", "while") if key in fault.data]
    if len(several) > 1:
        raise fault.problem([several[1]], f"{several[0]} and {several[1]} both say when it comes; keep one")
    if raw.while_ is not None and raw.for_s is not None:
        raise fault.problem(["for_s"], f"it lasts while `{raw.while_}` does; leave for_s out")
    if raw.poisson_s is not None and raw.for_s is None and not kind.heals_at_once:
        raise fault.problem(["poisson_s"], "a fault that comes again needs for_s")
    if raw.in_turn and not several:
        raise fault.problem(["in_turn"], "it comes once, so there are no turns; say every_s, poisson_s or while")
    if raw.every_s is None:
        return
    if raw.every_s >= load_s:
        raise fault.problem(["every_s"], f"it comes never: every_s must be less than load_s, {load_s:g}")
    if not kind.heals_at_once and raw.for_s is None:
        raise fault.problem(["every_s"], "a fault that comes again needs for_s")
