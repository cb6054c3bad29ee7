"""Ways to make a run smaller; each gives a run that may or may not still break. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from msgspec import structs

from controller.campaigns.settled import Phases, PlannedRun
from controller.campaigns.timetable import FaultEvent
from controller.sim.settings import Settings
from controller.topology import Topology
from controller.topology.model import Broker, Link
from controller.workloads.plans import Plan
from node.plan import PHASES, Advertise, AnyOperation, Attach, Detach, Publish, Subscribe, Unadvertise, Unsubscribe

GAPS_MS = (0.0, 1.0, 10.0, 50.0, 200.0)


def with_operations(run: PlannedRun, operations: Iterable[AnyOperation]) -> PlannedRun:
    return structs.replace(run, given=Plan.of(_sensible(operations)))


def with_faults(run: PlannedRun, events: Iterable[FaultEvent]) -> PlannedRun:
    return structs.replace(run, faults=tuple(sorted(events, key=lambda one: one.at_s)))


def _sensible(operations: Iterable[AnyOperation]) -> Iterator[AnyOperation]:
    """Without what would be refused, now that something before it is gone."""
    at: dict[str, list[str]] = {}
    held: set[tuple[str, str]] = set()
    for one in Plan.of(operations).operations:
        places = at.setdefault(one.client, [])
        match one:
            case Attach(broker=broker):
                if broker in places or len(places) > 1:
                    continue
                places.append(broker)
            case _ if not places:
                continue
            case Detach(broker=broker):
                if broker is not None and (broker not in places or len(places) < 2):
                    continue
                at[one.client] = [] if broker is None else [place for place in places if place != broker]
            case Subscribe(sub=key) | Advertise(adv=key):
                held.add((one.client, key))
            case Unsubscribe(sub=key) | Unadvertise(adv=key):
                if (one.client, key) not in held:
                    continue
        yield one


def without_client(run: PlannedRun, client: str) -> PlannedRun:
    left = with_faults(run, [one for one in run.faults if one.target != f"client:{client}"])
    return with_operations(left, [one for one in run.given.operations if one.client != client])


def merged(run: PlannedRun, gone: str, into: str) -> PlannedRun:
    """One broker takes the place of two that are linked: its clients, its other links, the faults on them."""
    names = {gone: into}
    links: dict[frozenset[str], Link] = {}
    for link in run.topology.links:
        a, b = names.get(link.a, link.a), names.get(link.b, link.b)
        if a != b:
            links.setdefault(frozenset((a, b)), structs.replace(link, a=a, b=b))
    brokers = tuple(one for one in run.topology.brokers if one.name != gone)
    topology = structs.replace(run.topology, brokers=brokers, links=tuple(links.values()))
    smaller = structs.replace(run, topology=topology)
    known = {f"link:{link.name}" for link in topology.links} | {f"broker:{one.name}" for one in brokers}
    events = [structs.replace(one, target=_renamed(one.target, names)) for one in run.faults]
    smaller = with_faults(smaller, [one for one in events if one.target in known or one.target.startswith("client:")])
    return with_operations(smaller, [_moved(one, names) for one in run.given.operations])


def _moved(one: AnyOperation, names: dict[str, str]) -> AnyOperation:
    if isinstance(one, Attach | Detach) and one.broker in names:
        return structs.replace(one, broker=names[one.broker])
    return one


def _renamed(target: str, names: dict[str, str]) -> str:
    kind, _, name = target.partition(":")
    ends = name.split("-") if kind == "link" else [name]
    return f"{kind}:{'-'.join(names.get(end, end) for end in ends)}"


def plainer(run: PlannedRun) -> Iterator[PlannedRun]:
    """Nothing special about times, sessions and links."""
    if run.log != "all":
        yield structs.replace(run, log="all")
    if run.sim != Settings():
        yield structs.replace(run, sim=Settings())
        for name in run.sim.__struct_fields__:
            usual = getattr(Settings(), name)
            if getattr(run.sim, name) != usual:
                yield structs.replace(run, sim=structs.replace(run.sim, **{name: usual}))
    for place, link in enumerate(run.topology.links):
        if link != Link(link.a, link.b):
            links = list(run.topology.links)
            links[place] = Link(link.a, link.b)
            yield structs.replace(run, topology=structs.replace(run.topology, links=tuple(links)))


def simpler_operations(run: PlannedRun) -> Iterator[PlannedRun]:
    for place, one in enumerate(run.given.operations):
        for other in _simpler(one):
            operations = list(run.given.operations)
            operations[place] = other
            yield with_operations(run, operations)


def _simpler(one: AnyOperation) -> Iterator[AnyOperation]:
    if isinstance(one, Subscribe | Advertise) and one.lang == "attr" and one.filter != "*":
        yield structs.replace(one, filter="*")
        for word in (" or ", " and "):
            for part in one.filter.split(word) if word in one.filter else ():
                yield structs.replace(one, filter=part)
    if isinstance(one, Publish) and isinstance(one.content, dict):
        for name in one.content if len(one.content) > 1 else ():
            yield structs.replace(one, content={key: value for key, value in one.content.items() if key != name})


def simpler_faults(run: PlannedRun) -> Iterator[PlannedRun]:
    for place, one in enumerate(run.faults):
        if one.until_s is not None:
            events = list(run.faults)
            events[place] = structs.replace(one, until_s=None)
            yield with_faults(run, events)


def sooner(run: PlannedRun) -> Iterator[Callable[[PlannedRun], Iterator[PlannedRun]]]:
    """For each gap between two moments of a phase, runs in which it is shorter."""
    for phase in PHASES:
        for number in range(len(_moments(run, phase)), 0, -1):
            yield partial(_shortened, phase, number)


def _moments(run: PlannedRun, phase: str) -> list[float]:
    found = {one.at_ms for one in run.given.operations if one.phase == phase}
    if phase == "load":
        found |= {one.at_s * 1000 for one in run.faults}
        found |= {one.until_s * 1000 for one in run.faults if one.until_s is not None}
        found.add(run.phases.load_s * 1000)
    if phase == "warm":
        found.add(run.phases.warm_s * 1000)
    return sorted({0.0, *found})


def _shortened(phase: str, number: int, run: PlannedRun) -> Iterator[PlannedRun]:
    moments = _moments(run, phase)
    if number >= len(moments):
        return
    begin_ms, end_ms = moments[number - 1], moments[number]
    for gap_ms in GAPS_MS:
        if gap_ms < end_ms - begin_ms:
            yield _shifted(run, phase, end_ms, end_ms - begin_ms - gap_ms)


def _shifted(run: PlannedRun, phase: str, from_ms: float, by_ms: float) -> PlannedRun:
    """Everything from that moment on comes so much sooner."""

    def at(ms: float) -> float:
        return round(ms - by_ms, 6) if ms >= from_ms else ms

    operations = [
        structs.replace(one, at_ms=at(one.at_ms)) if one.phase == phase else one for one in run.given.operations
    ]
    changed = structs.replace(run, given=Plan.of(operations))
    phases = run.phases
    if phase == "warm":
        return structs.replace(changed, phases=_phases(phases, warm_s=at(phases.warm_s * 1000) / 1000))
    if phase == "final":
        return changed
    events = [
        structs.replace(
            one,
            at_s=at(one.at_s * 1000) / 1000,
            until_s=None if one.until_s is None else at(one.until_s * 1000) / 1000,
        )
        for one in run.faults
    ]
    return structs.replace(
        changed, faults=tuple(events), phases=_phases(phases, load_s=max(0.001, at(phases.load_s * 1000) / 1000))
    )


def _phases(phases: Phases, **changes: float) -> Phases:
    return structs.replace(phases, **changes)


def renamed(run: PlannedRun) -> PlannedRun:
    """Brokers, clients and ids numbered as they come."""
    brokers = {one.name: f"b{number}" for number, one in enumerate(run.topology.brokers, 1)}
    clients = {name: f"c{number}" for number, name in enumerate(run.given.clients, 1)}
    keys: dict[str, str] = {}
    for one in run.given.operations:
        if isinstance(one, Subscribe):
            keys.setdefault(one.sub, f"s{1 + sum(key.startswith('s') for key in keys.values())}")
        elif isinstance(one, Advertise):
            keys.setdefault(one.adv, f"a{1 + sum(key.startswith('a') for key in keys.values())}")
    operations = [_named(one, brokers, clients, keys) for one in run.given.operations]
    topology = Topology(
        name=run.topology.name,
        description=run.topology.description,
        brokers=tuple(Broker(brokers[one.name], "inner", brokers[one.name]) for one in run.topology.brokers),
        links=tuple(structs.replace(one, a=brokers[one.a], b=brokers[one.b]) for one in run.topology.links),
    )
    events = [structs.replace(one, target=_target(one.target, run.topology, brokers, clients)) for one in run.faults]
    return structs.replace(run, topology=topology, faults=tuple(events), given=Plan.of(operations))


def _named(one: AnyOperation, brokers: dict[str, str], clients: dict[str, str], keys: dict[str, str]) -> AnyOperation:
    one = structs.replace(one, client=clients[one.client])
    match one:
        case Attach(broker=broker):
            return structs.replace(one, broker=brokers[broker])
        case Detach(broker=str(broker)):
            return structs.replace(one, broker=brokers[broker])
        case Subscribe(sub=key) | Unsubscribe(sub=key):
            return structs.replace(one, sub=keys.get(key, key))
        case Advertise(adv=key) | Unadvertise(adv=key):
            return structs.replace(one, adv=keys.get(key, key))
    return one


def _target(target: str, topology: Topology, brokers: dict[str, str], clients: dict[str, str]) -> str:
    kind, _, name = target.partition(":")
    if kind == "client":
        return f"client:{clients.get(name, name)}"
    if kind == "broker":
        return f"broker:{brokers.get(name, name)}"
    link = topology.link(name)
    return f"link:{brokers[link.a]}-{brokers[link.b]}"
