"""Match first (XROUTE §2): the publisher's broker matches against all subscriptions, and addresses the publication.

On the way nothing is matched: the header names the brokers that it is for.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from node.core.filters import Filter
from node.core.messages import Advertise, Port, Publication, Snapshot, Subscribe, Unsubscribe, broker_port
from node.core.schemes.base import After, Change, Effect, Forward, Heard, Site
from node.core.schemes.directed import DirectedScheme
from node.core.schemes.table import SubscriptionTable


class Destinations(Struct, frozen=True, array_like=True):
    brokers: tuple[str, ...]


class MatchFirst(DirectedScheme):
    name = "match-first"
    summary = "every subscription at the publishers' brokers, which match and address the brokers it is for"
    promise = "self-healing"
    Header = Destinations

    def __init__(self, site: Site, parameters: Struct) -> None:
        super().__init__(site, parameters)
        self._homes: dict[tuple[Port, str], str] = {}
        self._sent: dict[Port, dict[str, Subscribe]] = {port: {} for port in self.neighbours}
        self._clients = SubscriptionTable()
        """The subscriptions of our own clients once more, for publications that others have matched."""

    def apply(self, change: Change) -> Iterable[Effect]:
        if isinstance(change, Heard):
            match change.body:
                case Subscribe() as body:
                    self._note(change.port, body)
                case Snapshot(subs=subs):
                    for body in subs or ():
                        self._note(change.port, body)
        return super().apply(change)

    def _note(self, port: Port, body: Subscribe) -> None:
        self._homes[port, body.sub] = body.home if port.is_broker else self.site.broker

    def _body(self, port: Port, sub: str, wanted: Filter) -> Subscribe:
        return Subscribe(sub, str(wanted), wanted.lang, self._homes[port, sub])

    def subscribe(self, port: Port, sub: str, wanted: Filter) -> Iterable[Effect]:
        is_new = self.subs.get(port, sub) != wanted
        if is_new:
            for table in self._tables(port):
                table.remove(port, sub)
                table.add(port, sub, wanted)
        for neighbour in self.neighbours:
            if neighbour != port and self.wants(neighbour):
                yield self._tell(neighbour, self._body(port, sub, wanted))

    def _tell(self, neighbour: Port, body: Subscribe) -> Effect:
        if self._sent[neighbour].get(body.sub) == body:
            return After(neighbour, (body.sub,))
        self._sent[neighbour][body.sub] = body
        return Forward(neighbour, body)

    def unsubscribe(self, port: Port, sub: str) -> Iterable[Effect]:
        if self.subs.get(port, sub) is not None:
            for table in self._tables(port):
                table.remove(port, sub)
            del self._homes[port, sub]
            for neighbour in self.neighbours:
                if neighbour != port and self._sent[neighbour].pop(sub, None) is not None:
                    yield Forward(neighbour, Unsubscribe(sub))

    def offer(self, port: Port) -> Iterable[Effect]:
        for body in self._wanted_at(port):
            yield self._tell(port, body)

    def withdraw(self, port: Port) -> Iterable[Effect]:
        sent, self._sent[port] = self._sent[port], {}
        for sub in sent:
            yield Forward(port, Unsubscribe(sub))

    def _tables(self, port: Port) -> tuple[SubscriptionTable, ...]:
        return (self.subs,) if port.is_broker else (self.subs, self._clients)

    def _wanted_at(self, port: Port) -> list[Subscribe]:
        return [self._body(holder, sub, wanted) for holder, sub, wanted in self.subs if holder != port]

    def choose(self, port: Port) -> None:
        self._sent[port] = {body.sub: body for body in self._wanted_at(port)} if self.wants(port) else {}

    def told(self, port: Port) -> tuple[tuple[Subscribe, ...], tuple[Advertise, ...]]:
        return tuple(self._sent[port].values()), self.advertised_to(port)

    def route(self, port: Port, publication: Publication, header: Any) -> list[Forward]:
        brokers = header.brokers if port.is_broker else self._interested(publication)
        onwards: dict[str, list[str]] = {}
        for broker in brokers:
            if broker != self.site.broker and broker in self.site.routes:
                onwards.setdefault(self.site.routes[broker], []).append(broker)
        to_neighbours = [
            Forward(broker_port(neighbour), publication, Destinations(tuple(behind)))
            for neighbour, behind in onwards.items()
            if broker_port(neighbour) != port
        ]
        if self.site.broker not in brokers:
            return to_neighbours
        return [*(Forward(to, publication) for to in self._clients.ports(publication, port)), *to_neighbours]

    def _interested(self, publication: Publication) -> list[str]:
        return sorted({self._homes[key] for key in self.subs.matching(publication)})
