"""Deliberately wrong schemes: the audit must convict every one of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from node.core.filters import Filter
from node.core.messages import Advertise, Port, Publication, Snapshot, Subscribe
from node.core.schemes.base import Effect, Forward, Site
from node.core.schemes.covering_active import Candidate, CoveringActive
from node.core.schemes.match_first import MatchFirst
from node.core.schemes.simple import Simple, SimpleDirected
from node.core.schemes.xroute.canonical import CanonicalTable
from node.core.schemes.xroute.interface import Applied
from node.core.schemes.xroute.paper import PaperTable
from node.core.schemes.xroute.scheme import Table, XRoute, XRouteCanonical
from node.core.schemes.xroute.triples import Triple


class DropsEveryTenth(Simple):
    """Forgets every tenth publication."""

    name = "drops-every-tenth"

    def __init__(self, site: Site, parameters: Struct) -> None:
        super().__init__(site, parameters)
        self._routed = 0

    def route(self, port: Port, publication: Publication, header: Any) -> list[Forward]:
        self._routed += 1
        return [] if self._routed % 10 == 0 else super().route(port, publication, header)


class ForgetsTheCovered(CoveringActive):
    """Does not send out again what a cancelled filter covered."""

    name = "forgets-the-covered"

    def _burst(self, neighbour: Port, wider: Filter) -> list[Candidate]:
        return []

    def check(self) -> None:
        """It would notice by itself; here the audit has to."""


class DeliversTwice(Simple):
    """Gives every publication to its clients twice."""

    name = "delivers-twice"

    def route(self, port: Port, publication: Publication, header: Any) -> list[Forward]:
        forwards = super().route(port, publication, header)
        return [*forwards, *(forward for forward in forwards if not forward.port.is_broker)]


class SendsEverythingBack(Simple):
    """Sends a publication back to the neighbour that it came from, once."""

    name = "sends-everything-back"

    def __init__(self, site: Site, parameters: Struct) -> None:
        super().__init__(site, parameters)
        self._bounced: set[str] = set()

    def route(self, port: Port, publication: Publication, header: Any) -> list[Forward]:
        forwards = super().route(port, publication, header)
        if port.is_broker and publication.msg not in self._bounced:
            self._bounced.add(publication.msg)
            forwards.append(Forward(port, publication))
        return forwards


class CancelsForEverybody(Simple):
    """Withdraws a filter when the first of its holders gives it up."""

    name = "cancels-for-everybody"

    def _needed(self, neighbour: Port, wanted: Filter) -> bool:
        return False

    def check(self) -> None:
        """It would notice by itself; here the audit has to."""


class SilentToSuccessors(Simple):
    """Tells a restarted neighbour nothing of what lies behind it."""

    name = "silent-to-successors"

    def told(self, port: Port) -> tuple[tuple[Subscribe, ...], tuple[Advertise, ...]]:
        return (), ()


class WrongCovering(CoveringActive):
    """Takes any filter that was sent for a wider one."""

    name = "wrong-covering"

    def _coverers(self, neighbour: Port, wanted: Filter) -> tuple[str, ...]:
        return tuple(sub for sub, wider in self._sent[neighbour].items() if wider.intersects(wanted))

    def check(self) -> None:
        """It would notice by itself; here the audit has to."""


class CancelsFirst(CoveringActive):
    """Withdraws the wide filter before it sends the narrow ones: for a moment nothing is covered."""

    name = "cancels-first"

    def _drop(self, neighbour: Port, sub: str) -> Iterable[Effect]:
        effects = list(super()._drop(neighbour, sub))
        return [effects[-1], *effects[:-1]]


class RemembersTheCancelled(CoveringActive):
    """Forgets that it has withdrawn a filter: what that one covered is believed to be there."""

    name = "remembers-the-cancelled"

    def _drop(self, neighbour: Port, sub: str) -> Iterable[Effect]:
        wider = self._sent[neighbour][sub]
        yield from super()._drop(neighbour, sub)
        self._sent[neighbour][f"{sub}-once"] = wider

    def check(self) -> None:
        """It would notice by itself; here the audit has to."""


class SnapshotInPieces(CoveringActive):
    """Takes a snapshot by forgetting everything first."""

    name = "snapshot-in-pieces"

    def _replace(self, port: Port, snapshot: Snapshot) -> Iterable[Effect]:
        if snapshot.complete and snapshot.subs:
            for sub in self.subs.of_port(port):
                yield from self.unsubscribe(port, sub)
        yield from super()._replace(port, snapshot)


class IgnoresNewProducers(SimpleDirected):
    """Believes that who has heard of filters once still knows them after the last producer had gone."""

    name = "ignores-new-producers"

    def withdraw(self, port: Port) -> Iterable[Effect]:
        sent = dict(self._sent[port])
        yield from super().withdraw(port)
        self._sent[port] = sent

    def check(self) -> None:
        """It would notice by itself; here the audit has to."""


class AddressesOneBroker(MatchFirst):
    """Puts only the first of the interested brokers into the header."""

    name = "addresses-one-broker"

    def _interested(self, publication: Publication) -> list[str]:
        return super()._interested(publication)[:1]


class ForgetsTheFreed(XRoute):
    """Tells only the first row of an advertisement: what a cancelled filter stood for is not told again."""

    name = "forgets-the-freed"

    def new_table(self) -> Table:
        return _FirstRowOnly()

    def check(self) -> None:
        """It would notice by itself; here the audit has to."""


class _FirstRowOnly(PaperTable):
    def apply(self, port: Port, applied: Applied) -> list[Triple]:
        return super().apply(port, applied)[:1]


class CounterSlips(XRouteCanonical):
    """Counts an instance too few where two clients want the same, so the first cancellation takes both."""

    name = "counter-slips"

    def new_table(self) -> Table:
        return _Slipping()

    def check(self) -> None:
        """It would notice by itself; here the audit has to."""


class _Slipping(CanonicalTable):
    def apply(self, port: Port, applied: Applied) -> list[Triple]:
        told = super().apply(port, applied)
        return [Triple(one.filter, 1, one.r) if one.n > 1 else one for one in told]


class OrderedByHash(Simple):
    """Sends in the order of a set: another run of Python, another order."""

    name = "ordered-by-hash"

    def route(self, port: Port, publication: Publication, header: Any) -> list[Forward]:
        return sorted(super().route(port, publication, header), key=lambda one: hash(one.port))
