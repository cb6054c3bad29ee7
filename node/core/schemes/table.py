"""The part that table-driven schemes share: entries per port, and bringing a neighbour up to date."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct

from node.core.filters import Filter, parse
from node.core.matching.index import FilterIndex
from node.core.messages import (
    Advertise,
    Port,
    Publication,
    Snapshot,
    Subscribe,
    Unadvertise,
    Unsubscribe,
)
from node.core.schemes.base import Change, Effect, Forward, Heard, PortUp, Scheme, Site
from node.core.schemes.resync import PARTS, Resync

Key = tuple[Port, str]


class SubscriptionTable:
    """What was asked for through which port."""

    def __init__(self) -> None:
        self._filters: dict[Key, Filter] = {}
        self._matcher: FilterIndex[Key] = FilterIndex()

    def __len__(self) -> int:
        return len(self._filters)

    def __iter__(self) -> Iterator[tuple[Port, str, Filter]]:
        for (port, sub), wanted in self._filters.items():
            yield port, sub, wanted

    def get(self, port: Port, sub: str) -> Filter | None:
        return self._filters.get((port, sub))

    def add(self, port: Port, sub: str, wanted: Filter) -> None:
        self._filters[port, sub] = wanted
        self._matcher.add((port, sub), wanted)

    def remove(self, port: Port, sub: str) -> Filter | None:
        wanted = self._filters.pop((port, sub), None)
        if wanted is not None:
            self._matcher.remove((port, sub))
        return wanted

    def of_port(self, port: Port) -> list[str]:
        return [sub for p, sub in self._filters if p == port]

    def ports(self, publication: Publication, came_from: Port) -> list[Port]:
        """Where a matching entry came from, each port once; a publisher may want its own message back."""
        keys = self.matching(publication)
        return [p for p in dict.fromkeys(port for port, _ in keys) if p != came_from or not p.is_broker]

    def matching(self, publication: Publication) -> list[Key]:
        return self._matcher.match(publication.content, publication.lang)


def subscribe_body(sub: str, wanted: Filter) -> Subscribe:
    return Subscribe(sub, str(wanted), wanted.lang)


class TableScheme(Scheme):
    """A scheme whose state is a table of subscriptions, and what was passed on of it to each neighbour."""

    def __init__(self, site: Site, parameters: Struct) -> None:
        super().__init__(site, parameters)
        self.neighbours = site.tree_ports
        self.subs = SubscriptionTable()
        self._resync = Resync(self.neighbours)

    @abstractmethod
    def subscribe(self, port: Port, sub: str, wanted: Filter) -> Iterable[Effect]: ...

    @abstractmethod
    def unsubscribe(self, port: Port, sub: str) -> Iterable[Effect]: ...

    def advertise(self, port: Port, advertisement: Advertise) -> Iterable[Effect]:
        """Schemes that do not use advertisements let them pass."""
        return ()

    def unadvertise(self, port: Port, adv: str) -> Iterable[Effect]:
        return ()

    @abstractmethod
    def choose(self, port: Port) -> None:
        """Decide anew what this neighbour has to be told, as if it knew nothing."""

    @abstractmethod
    def told(self, port: Port) -> tuple[tuple[Subscribe, ...], tuple[Advertise, ...]]:
        """All that this neighbour has been told, or has to be told now."""

    def advertised_by(self, port: Port) -> list[str]:
        return []

    def apply(self, change: Change) -> Iterable[Effect]:
        match change:
            case PortUp(port=port, incarnation=incarnation) if port in self.neighbours:
                if self._resync.is_new(port, incarnation):
                    yield from self._bring_up_to_date(port)
            case Heard(port=port, body=Subscribe() as body):
                yield from self.subscribe(port, body.sub, parse(body.filter, body.lang))
            case Heard(port=port, body=Unsubscribe() as body):
                yield from self.unsubscribe(port, body.sub)
            case Heard(port=port, body=Advertise() as body):
                yield from self.advertise(port, body)
            case Heard(port=port, body=Unadvertise() as body):
                yield from self.unadvertise(port, body.adv)
            case Heard(port=port, body=Snapshot() as body):
                yield from self._replace(port, body)

    def _bring_up_to_date(self, port: Port) -> Iterable[Effect]:
        self.choose(port)
        complete = self._resync.may_complete(port)
        if complete:
            self._resync.told_all(port)
        yield from self._snapshot(port, complete)

    def _snapshot(self, port: Port, complete: bool, awaited: bool = True) -> Iterable[Effect]:
        subs, advs = self.told(port)
        yield Forward(port, Snapshot(advs=advs, complete=complete), awaited=awaited)
        yield Forward(port, Snapshot(subs=subs, complete=complete), awaited=awaited)

    def _replace(self, port: Port, snapshot: Snapshot) -> Iterable[Effect]:
        # What is new before what is gone, so coverage never has a gap.
        for advertisement in snapshot.advs or ():
            yield from self.advertise(port, advertisement)
        for body in snapshot.subs or ():
            yield from self.subscribe(port, body.sub, parse(body.filter, body.lang))
        if snapshot.complete:
            yield from self._sweep(port, snapshot)
        if snapshot.complete and port in self.neighbours:
            self._resync.heard_all(port, [part for part in PARTS if getattr(snapshot, part) is not None])
            for due in self._resync.due():
                self._resync.told_all(due)
                # It says nothing new, so nobody's request has to wait for it.
                yield from self._snapshot(due, complete=True, awaited=False)

    def _sweep(self, port: Port, snapshot: Snapshot) -> Iterable[Effect]:
        if snapshot.subs is not None:
            still = {body.sub for body in snapshot.subs}
            for sub in self.subs.of_port(port):
                if sub not in still:
                    yield from self.unsubscribe(port, sub)
        if snapshot.advs is not None:
            offered = {body.adv for body in snapshot.advs}
            for adv in self.advertised_by(port):
                if adv not in offered:
                    yield from self.unadvertise(port, adv)

    def route(self, port: Port, publication: Publication, header: Any) -> list[Forward]:
        return [Forward(to, publication) for to in self.subs.ports(publication, port)]

    def size(self) -> int:
        return len(self.subs)

    def table(self) -> list[dict[str, Any]]:
        return [{"sub": sub, "from": port.name, "filter": str(wanted)} for port, sub, wanted in self.subs]

    def unknown(self) -> list[Port]:
        return self._resync.unknown()

    def waiting_for(self) -> list[str]:
        return self._resync.waiting_for()
