"""XROUTE on brokers that host producers and consumers alike.

Consumers sit at a virtual consumer node inside their broker, as the paper suggests; advertisements say where producers
are. On a tree all producers behind one neighbour see the same table, so there is one table per neighbour with a
producer behind it, fed by all other interfaces. What an interface told is kept once.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any, Protocol

from msgspec import Struct

from node.core.errors import InvariantViolation, PeerError
from node.core.filters import Filter, parse
from node.core.messages import (
    COMMON_BODIES,
    Advertise,
    Port,
    Publication,
    Snapshot,
    Subscribe,
    Unadvertise,
    Unsubscribe,
)
from node.core.schemes.base import After, Change, Effect, Forward, Heard, PortUp, Scheme, Site
from node.core.schemes.resync import Resync
from node.core.schemes.table import SubscriptionTable
from node.core.schemes.xroute.canonical import CanonicalTable
from node.core.schemes.xroute.interface import NOTHING, Applied, Interface, Row, Step
from node.core.schemes.xroute.paper import PaperTable
from node.core.schemes.xroute.triples import ROWS, Rows, Triple, Update, wired

CONSUMERS = Port("consumers", "")


class Table(Protocol):
    """How the interfaces are aggregated into what goes upstream."""

    def apply(self, port: Port, applied: Applied) -> list[Triple]: ...
    def build(self, rows: Iterable[tuple[Port, Filter, Row]]) -> None: ...
    def told(self) -> dict[Filter, Row]: ...
    def filters(self) -> Iterable[Filter]: ...
    def check(self, where: str) -> None: ...


class ProducerTrees(Scheme):
    promise = "self-healing"
    needs = frozenset({"tree", "advertisements"})
    controls = (*COMMON_BODIES, Update, Rows)

    def __init__(self, site: Site, parameters: Struct) -> None:
        super().__init__(site, parameters)
        self.neighbours = site.tree_ports
        self._advs: dict[str, tuple[Port, Advertise]] = {}
        self._resync = Resync(self.neighbours)
        self._subs = SubscriptionTable()
        """Whom a publication goes to: clients by their subscriptions, neighbours by the rows of their interface."""
        self._consumers = self.new_table()
        self.interfaces: dict[Port, Interface] = {port: Interface() for port in (*self.neighbours, CONSUMERS)}
        self.upstream: dict[Port, Table] = {}

    @abstractmethod
    def new_table(self) -> Table: ...

    def apply(self, change: Change) -> Iterable[Effect]:
        match change:
            case PortUp(port=port, incarnation=incarnation) if port in self.neighbours:
                if self._resync.is_new(port, incarnation):
                    yield from self._bring_up_to_date(port)
            case Heard(port=port, body=Subscribe() as body):
                yield from self._subscribe(port, body)
            case Heard(port=port, body=Unsubscribe() as body):
                yield from self._unsubscribe(port, body.sub)
            case Heard(port=port, body=Advertise() as body):
                yield from self._advertise(port, body)
            case Heard(port=port, body=Unadvertise() as body):
                yield from self._unadvertise(port, body.adv)
            case Heard(port=port, body=Snapshot() as body):
                yield from self._snapshot(port, body)
            case Heard(port=port, body=Update() as body):
                yield from self._take(port, body.parsed(), body.sub)
            case Heard(port=port, body=Rows() as body):
                yield from self._rewritten(port, body)

    def _subscribe(self, port: Port, body: Subscribe) -> Iterator[Effect]:
        wanted = parse(body.filter, body.lang)
        known = self._subs.get(port, body.sub)
        if known == wanted:
            for neighbour in self.upstream:
                yield After(neighbour, (body.sub,))
            return
        self._subs.remove(port, body.sub)
        self._subs.add(port, body.sub, wanted)
        yield from self._consumed(wanted, 1, body.sub)
        if known is not None:
            yield from self._consumed(known, -1, body.sub)

    def _unsubscribe(self, port: Port, sub: str) -> Iterator[Effect]:
        known = self._subs.remove(port, sub)
        if known is not None:
            yield from self._consumed(known, -1, sub)

    def _consumed(self, filter: Filter, n: int, sub: str) -> Iterator[Effect]:
        """A consumer here registered or cancelled: its node aggregates that, and tells us as any neighbour would."""
        step = Applied([Step(filter, n, 0)], {filter: Row(n, 0)})
        yield from self._take(CONSUMERS, self._consumers.apply(CONSUMERS, step), sub)

    def _take(self, port: Port, triples: list[Triple], sub: str | None) -> Iterator[Effect]:
        applied = self._interface(port).apply(triples)
        self._follow(port, applied.changes)
        for neighbour, table in self.upstream.items():
            if neighbour != port:
                # Even if it says nothing: it is settled only after what went before it.
                yield Forward(neighbour, Update(triples=wired(table.apply(port, applied)), sub=sub))

    def _interface(self, port: Port) -> Interface:
        interface = self.interfaces.get(port)
        if interface is None:
            raise PeerError(f"message from {port.name}", "it is no neighbour on the tree")
        return interface

    def _follow(self, port: Port, changed: Iterable[Filter]) -> None:
        """Route by the rows as they are now."""
        if port == CONSUMERS:
            return
        rows = self.interfaces[port].rows
        for filter in changed:
            text = f"{filter.lang} {filter}"
            if filter not in rows:
                self._subs.remove(port, text)
            elif self._subs.get(port, text) is None:
                self._subs.add(port, text, filter)

    def _rewritten(self, port: Port, body: Rows) -> Iterator[Effect]:
        interface = self._interface(port)
        had_rows = bool(interface.rows)
        rewritten = interface.rewrite({filter: Row(n, r) for filter, n, r in body.parsed()}, body.complete)
        self._follow(port, rewritten.changes if isinstance(rewritten, Applied) else rewritten)
        # From whom there was nothing and is nothing, nobody waits for anything.
        for neighbour in self.upstream if had_rows or interface.rows else ():
            if neighbour != port:
                yield self._passed_on(neighbour, port, rewritten)
        if body.complete:
            yield from self._heard_all(port, "subs")

    def _passed_on(self, neighbour: Port, port: Port, rewritten: Applied | list[Filter]) -> Forward:
        if isinstance(rewritten, Applied):
            return Forward(neighbour, Update(triples=wired(self.upstream[neighbour].apply(port, rewritten))))
        return Forward(neighbour, Rows(triples=wired(self._rebuilt(neighbour)), complete=False))

    def _rebuilt(self, neighbour: Port) -> list[Triple]:
        """Builds the table anew; returns the rows that have changed by it, as they are now."""
        before = self.upstream[neighbour].told()
        after = self._build(neighbour).told()
        gone = [Triple(filter, 0, 0) for filter in before if filter not in after]
        return gone + [Triple(filter, *row) for filter, row in after.items() if row != before.get(filter, NOTHING)]

    def _build(self, neighbour: Port) -> Table:
        table = self.upstream[neighbour] = self.new_table()
        table.build(
            (port, filter, row)
            for port, interface in self.interfaces.items()
            if port != neighbour
            for filter, row in interface.rows.items()
        )
        return table

    def _advertise(self, port: Port, body: Advertise) -> Iterator[Effect]:
        known = self._advs.get(body.adv)
        is_new = known is None or known != (port, body)
        if is_new:
            self._advs[body.adv] = (port, body)
        for neighbour in self.neighbours:
            if neighbour != port:
                yield Forward(neighbour, body) if is_new else After(neighbour, (body.adv,))
        if known is not None and known[0] != port:
            yield from self._close_if_idle(known[0])
        if port in self.upstream:
            yield After(port, (ROWS,))
        elif port in self.neighbours and self._resync.is_told(port):
            yield self._open(port)

    def _unadvertise(self, port: Port, adv: str) -> Iterator[Effect]:
        known = self._advs.get(adv)
        if known is None or known[0] != port:
            return
        del self._advs[adv]
        for neighbour in self.neighbours:
            if neighbour != port:
                yield Forward(neighbour, Unadvertise(adv))
        yield from self._close_if_idle(port)

    def _open(self, neighbour: Port) -> Forward:
        """Tell a neighbour all, if a producer is behind it; and from now on every change."""
        self.upstream.pop(neighbour, None)
        rows: dict[Filter, Row] = {}
        if any(hop == neighbour for hop, _ in self._advs.values()):
            rows = self._build(neighbour).told()
        return Forward(neighbour, Rows(triples=wired(Triple(filter, *row) for filter, row in rows.items())))

    def _close_if_idle(self, neighbour: Port) -> Iterator[Effect]:
        """With the last producer behind a neighbour nobody there needs to know who is interested."""
        if neighbour in self.upstream and not any(hop == neighbour for hop, _ in self._advs.values()):
            del self.upstream[neighbour]
            yield Forward(neighbour, Rows())

    def _snapshot(self, port: Port, body: Snapshot) -> Iterator[Effect]:
        # What is new before what is gone, so coverage never has a gap.
        for advertisement in body.advs or ():
            yield from self._advertise(port, advertisement)
        for subscription in body.subs or ():
            yield from self._subscribe(port, subscription)
        if not body.complete:
            return
        if body.subs is not None:
            still = {each.sub for each in body.subs}
            for sub in [sub for sub in self._subs.of_port(port) if sub not in still]:
                yield from self._unsubscribe(port, sub)
        if body.advs is not None:
            offered = {each.adv for each in body.advs}
            for adv in [adv for adv, (hop, _) in self._advs.items() if hop == port and adv not in offered]:
                yield from self._unadvertise(port, adv)
            if port in self.neighbours:
                yield from self._heard_all(port, "advs")

    def _bring_up_to_date(self, port: Port) -> Iterator[Effect]:
        complete = self._resync.may_complete(port)
        yield self._all_advertised(port, complete)
        self.upstream.pop(port, None)
        if complete:
            self._resync.told_all(port)
            yield self._open(port)

    def _heard_all(self, port: Port, part: str) -> Iterator[Effect]:
        self._resync.heard_all(port, (part,))
        for due in self._resync.due():
            self._resync.told_all(due)
            # Each advertisement in it has gone there before.
            yield self._all_advertised(due, complete=True, awaited=False)
            yield self._open(due)

    def _all_advertised(self, port: Port, complete: bool, awaited: bool = True) -> Forward:
        advs = tuple(body for hop, body in self._advs.values() if hop != port)
        return Forward(port, Snapshot(advs=advs, complete=complete), awaited=awaited)

    def route(self, port: Port, publication: Publication, header: Any) -> list[Forward]:
        return [Forward(to, publication) for to in self._subs.ports(publication, port)]

    def size(self) -> int:
        filters = {filter for interface in self.interfaces.values() for filter in interface.rows}
        return len(filters.union(self._consumers.filters()))

    def table(self) -> list[dict[str, Any]]:
        return [
            {"sub": f"{row.n} + {row.z}", "from": port.name or port.kind, "filter": str(filter)}
            for port, interface in self.interfaces.items()
            for filter, row in interface.rows.items()
        ]

    def unknown(self) -> list[Port]:
        return self._resync.unknown()

    def waiting_for(self) -> list[str]:
        return self._resync.waiting_for()

    def check(self) -> None:
        where = self.site.broker
        self._consumers.check(f"{where}, consumers")
        if self._consumers.told() != self.interfaces[CONSUMERS].rows:
            raise InvariantViolation(f"{where}: its consumers told {self._consumers.told()}")
        for neighbour, table in self.upstream.items():
            table.check(f"{where} towards {neighbour.name}")
        for port, interface in self.interfaces.items():
            for filter in interface.rows:
                if narrower := interface.represented_by(filter):
                    raise InvariantViolation(f"{where}: {port.name} told {filter} and {narrower[0]}, which it covers")


class XRoute(ProducerTrees):
    name = "xroute"
    summary = "filters are represented and substituted by wider ones, with the paper's counters (XROUTE)"

    def new_table(self) -> Table:
        return PaperTable()


class XRouteCanonical(ProducerTrees):
    name = "xroute-canonical"
    summary = "xroute with tables that depend on the live subscriptions alone"

    def new_table(self) -> Table:
        return CanonicalTable()
