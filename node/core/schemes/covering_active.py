"""Active covering (CONGESTION): a subscription follows intersecting advertisements, unless a wider one went before.

A wider subscription that goes out retracts the narrower ones behind it; cancelling it sends them out again first.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from node.core.errors import InvariantViolation
from node.core.filters import Filter, parse
from node.core.messages import Advertise, Port, Subscribe, Unadvertise, Unsubscribe
from node.core.schemes.base import After, Effect, Forward, Site
from node.core.schemes.table import TableScheme, subscribe_body

Candidate = tuple[str, Filter]


def maximal(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Those that no other one covers; of equal filters the first."""
    kept: list[Candidate] = []
    for sub, wanted in candidates:
        if not any(wider.covers(wanted) for _, wider in kept):
            kept = [(s, f) for s, f in kept if not wanted.covers(f)]
            kept.append((sub, wanted))
    return kept


class CoveringActive(TableScheme):
    name = "covering-active"
    summary = "subscriptions follow advertisements; covered ones are not sent, and retracted once covered"
    promise = "self-healing"
    needs = frozenset({"tree", "advertisements"})

    def __init__(self, site: Site, parameters: Struct) -> None:
        super().__init__(site, parameters)
        self._advs: dict[str, tuple[Port, Advertise, Filter]] = {}
        self._sent: dict[Port, dict[str, Filter]] = {port: {} for port in self.neighbours}

    def _needs(self, neighbour: Port, wanted: Filter) -> bool:
        return any(port == neighbour and offered.intersects(wanted) for port, _, offered in self._advs.values())

    def _coverers(self, neighbour: Port, wanted: Filter) -> tuple[str, ...]:
        return tuple(sub for sub, wider in self._sent[neighbour].items() if wider.covers(wanted))

    def subscribe(self, port: Port, sub: str, wanted: Filter) -> Iterable[Effect]:
        known = self.subs.get(port, sub)
        if known is not None and known != wanted:
            yield from self.unsubscribe(port, sub)
        if known != wanted:
            self.subs.add(port, sub, wanted)
        for neighbour in self.neighbours:
            if neighbour != port:
                yield from self._offer(neighbour, sub, wanted)

    def _offer(self, neighbour: Port, sub: str, wanted: Filter) -> Iterable[Effect]:
        sent = self._sent[neighbour]
        if not self._needs(neighbour, wanted):
            return
        if coverers := self._coverers(neighbour, wanted):
            yield After(neighbour, coverers)
            return
        narrower = [s for s, f in sent.items() if wanted.covers(f)]
        sent[sub] = wanted
        yield Forward(neighbour, subscribe_body(sub, wanted))
        for other in narrower:
            del sent[other]
            yield Forward(neighbour, Unsubscribe(other))

    def unsubscribe(self, port: Port, sub: str) -> Iterable[Effect]:
        if self.subs.remove(port, sub) is None:
            return
        for neighbour in self.neighbours:
            if neighbour != port and sub in self._sent[neighbour]:
                yield from self._drop(neighbour, sub)

    def _drop(self, neighbour: Port, sub: str) -> Iterable[Effect]:
        wider = self._sent[neighbour].pop(sub)
        for freed, wanted in self._burst(neighbour, wider):
            self._sent[neighbour][freed] = wanted
            yield Forward(neighbour, subscribe_body(freed, wanted))
        yield Forward(neighbour, Unsubscribe(sub))

    def _burst(self, neighbour: Port, wider: Filter) -> list[Candidate]:
        """What only the withdrawn filter covered there: it has to go out before the withdrawal."""
        return maximal(
            (sub, wanted)
            for port, sub, wanted in self.subs
            if port != neighbour
            and wider.covers(wanted)
            and self._needs(neighbour, wanted)
            and not self._coverers(neighbour, wanted)
        )

    def advertise(self, port: Port, advertisement: Advertise) -> Iterable[Effect]:
        known = self._advs.get(advertisement.adv)
        offered = parse(advertisement.filter, advertisement.lang)
        is_new = known is None or known[0] != port or known[2] != offered
        if is_new:
            self._advs[advertisement.adv] = (port, advertisement, offered)
        for neighbour in self.neighbours:
            if neighbour != port:
                yield Forward(neighbour, advertisement) if is_new else After(neighbour, (advertisement.adv,))
        if port in self._sent:
            yield from self._offer_all(port)

    def _offer_all(self, neighbour: Port) -> Iterable[Effect]:
        for sub, wanted in self._wanted_at(neighbour):
            yield from self._offer(neighbour, sub, wanted)

    def _wanted_at(self, neighbour: Port) -> list[Candidate]:
        return maximal(
            (sub, wanted) for port, sub, wanted in self.subs if port != neighbour and self._needs(neighbour, wanted)
        )

    def unadvertise(self, port: Port, adv: str) -> Iterable[Effect]:
        known = self._advs.get(adv)
        if known is None or known[0] != port:
            return
        del self._advs[adv]
        for neighbour in self.neighbours:
            if neighbour != port:
                yield Forward(neighbour, Unadvertise(adv))
        if port in self._sent:
            useless = [sub for sub, wanted in self._sent[port].items() if not self._needs(port, wanted)]
            for sub in useless:
                del self._sent[port][sub]
            # `intersects` may err towards yes: a narrower filter can be needed where a wider one is not.
            yield from self._offer_all(port)
            for sub in useless:
                yield Forward(port, Unsubscribe(sub))

    def advertised_by(self, port: Port) -> list[str]:
        return [adv for adv, (hop, _, _) in self._advs.items() if hop == port]

    def choose(self, port: Port) -> None:
        self._sent[port] = dict(self._wanted_at(port))

    def told(self, port: Port) -> tuple[tuple[Subscribe, ...], tuple[Advertise, ...]]:
        return (
            tuple(subscribe_body(sub, wanted) for sub, wanted in self._sent[port].items()),
            tuple(advertisement for hop, advertisement, _ in self._advs.values() if hop != port),
        )

    def check(self) -> None:
        for neighbour, sent in self._sent.items():
            where = f"{self.site.broker} towards {neighbour.name}"
            entries = {sub: wanted for port, sub, wanted in self.subs if port != neighbour}
            for sub, wanted in sent.items():
                if entries.get(sub) != wanted:
                    raise InvariantViolation(f"{where}: {sub} ({wanted}) was sent but is not in the table")
                if any(other != sub and f.covers(wanted) for other, f in sent.items()):
                    raise InvariantViolation(f"{where}: {sub} ({wanted}) was sent although another one covers it")
            for sub, wanted in entries.items():
                if self._needs(neighbour, wanted) and not self._coverers(neighbour, wanted):
                    raise InvariantViolation(f"{where}: {sub} ({wanted}) is needed there and nothing sent covers it")
