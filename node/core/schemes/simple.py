"""Each distinct filter goes to every neighbour once, or to those on the way to a producer; no covering (XROUTE §6)."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from node.core.errors import InvariantViolation
from node.core.filters import Filter
from node.core.messages import Advertise, Port, Subscribe, Unsubscribe
from node.core.schemes.base import After, Effect, Forward, Site
from node.core.schemes.directed import DirectedScheme
from node.core.schemes.table import TableScheme, subscribe_body


class Simple(TableScheme):
    name = "simple"
    summary = "distinct filters to everyone, publications back along their paths; no covering"
    promise = "self-healing"
    needs = frozenset({"tree"})

    def __init__(self, site: Site, parameters: Struct) -> None:
        super().__init__(site, parameters)
        # filter -> how many entries each port has of it
        self._holders: dict[Filter, dict[Port, int]] = {}
        # The name of a filter towards a neighbour is the id it was first sent under; it stays until the filter goes.
        self._sent: dict[Port, dict[Filter, str]] = {port: {} for port in self.neighbours}

    def subscribe(self, port: Port, sub: str, wanted: Filter) -> Iterable[Effect]:
        known = self.subs.get(port, sub)
        if known != wanted:
            self.subs.remove(port, sub)
            self._add(port, sub, wanted)
        for neighbour in self.neighbours:
            if neighbour == port or not self.wants(neighbour):
                continue
            name = self._sent[neighbour].get(wanted)
            if name is None:
                self._sent[neighbour][wanted] = sub
                yield Forward(neighbour, subscribe_body(sub, wanted))
            else:
                yield After(neighbour, (name,))
        if known is not None and known != wanted:
            yield from self._forget(port, known)

    def unsubscribe(self, port: Port, sub: str) -> Iterable[Effect]:
        wanted = self.subs.remove(port, sub)
        if wanted is not None:
            yield from self._forget(port, wanted)

    def _add(self, port: Port, sub: str, wanted: Filter) -> None:
        self.subs.add(port, sub, wanted)
        holders = self._holders.setdefault(wanted, {})
        holders[port] = holders.get(port, 0) + 1

    def _forget(self, port: Port, wanted: Filter) -> Iterable[Effect]:
        holders = self._holders[wanted]
        holders[port] -= 1
        if not holders[port]:
            del holders[port]
        if not holders:
            del self._holders[wanted]
        for neighbour in self.neighbours:
            if wanted in self._sent[neighbour] and not self._needed(neighbour, wanted):
                yield Forward(neighbour, Unsubscribe(self._sent[neighbour].pop(wanted)))

    def _needed(self, neighbour: Port, wanted: Filter) -> bool:
        return any(port != neighbour for port in self._holders.get(wanted, {}))

    def wants(self, neighbour: Port) -> bool:
        """Whether this neighbour has to know who is interested."""
        return True

    def choose(self, port: Port) -> None:
        chosen: dict[Filter, str] = {}
        for holder, sub, wanted in self.subs if self.wants(port) else ():
            if holder != port:
                chosen.setdefault(wanted, sub)
        self._sent[port] = chosen

    def told(self, port: Port) -> tuple[tuple[Subscribe, ...], tuple[Advertise, ...]]:
        return tuple(subscribe_body(sub, wanted) for wanted, sub in self._sent[port].items()), ()

    def check(self) -> None:
        for neighbour in self.neighbours:
            needed = {wanted for port, _, wanted in self.subs if port != neighbour and self.wants(neighbour)}
            if needed != set(self._sent[neighbour]):
                story = sorted(str(f) for f in needed ^ set(self._sent[neighbour]))
                raise InvariantViolation(
                    f"{self.site.broker}: sent to {neighbour.name} and needed there differ: {story}"
                )


class SimpleDirected(DirectedScheme, Simple):
    name = "simple-directed"
    summary = "simple, but filters go only where an advertisement came from, as in XROUTE's experiment"

    def offer(self, port: Port) -> Iterable[Effect]:
        before = self._sent[port]
        self.choose(port)
        for wanted, sub in self._sent[port].items():
            name = self._sent[port][wanted] = before.get(wanted, sub)
            yield After(port, (name,)) if wanted in before else Forward(port, subscribe_body(sub, wanted))

    def withdraw(self, port: Port) -> Iterable[Effect]:
        sent, self._sent[port] = self._sent[port], {}
        for sub in sent.values():
            yield Forward(port, Unsubscribe(sub))

    def told(self, port: Port) -> tuple[tuple[Subscribe, ...], tuple[Advertise, ...]]:
        subs, _ = super().told(port)
        return subs, self.advertised_to(port)
