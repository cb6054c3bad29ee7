"""Real routing schemes on a tree of brokers with perfect FIFO links: no sessions, no time, every order of deliveries.

For what is counted rather than timed: table sizes, messages, links crossed. `sim` has the rest.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from random import Random
from typing import Any, NamedTuple

from node.core.filters import Filter, parse
from node.core.messages import (
    Advertise,
    Body,
    Port,
    Publication,
    Subscribe,
    Unsubscribe,
    broker_port,
    client_port,
)
from node.core.overlay import Weight, spanning_tree
from node.core.records import Content, Lang
from node.core.schemes.base import Effect, Forward, Heard, Neighbour, PortUp, Scheme, Site
from node.core.schemes.registry import build

Edge = tuple[str, str]


class UnderWay(NamedTuple):
    message: Body | Publication
    header: Any
    request: int


class Overlay:
    def __init__(
        self,
        scheme: str,
        brokers: Iterable[str],
        links: Iterable[tuple[str, str, Weight]],
        parameters: Mapping[str, Any] = {},
    ) -> None:
        names, edges = sorted(brokers), list(links)
        self.tree = spanning_tree(names, edges)
        self.schemes = {name: build(scheme, self._site(name, names), dict(parameters)) for name in names}
        self.links: dict[Edge, deque[UnderWay]] = {}
        for a, b in sorted(self.tree):
            self.links[a, b], self.links[b, a] = deque(), deque()
        self._ready: deque[Edge] = deque()
        self.home: dict[str, str] = {}
        self.wanted: dict[str, tuple[str, Filter]] = {}
        self.pending: dict[int, int] = {}
        """Messages still under way because of a request."""
        self.controls = 0
        self.delivered: dict[str, list[str]] = {}
        self.crossed: dict[str, set[Edge]] = {}
        self._requests = 0
        self.sending: Callable[[str, str, Body], None] = lambda source, target, body: None
        self.heard: Callable[[str, str, Body], None] = lambda source, target, body: None
        for a, b in sorted(self.links):
            self._perform(a, self.schemes[a].apply(PortUp(broker_port(b), 1)), self._request())
        self.drain()

    def _site(self, name: str, names: list[str]) -> Site:
        beside = sorted({a if b == name else b for a, b in self.tree if name in (a, b)})
        neighbours = tuple(Neighbour(other) for other in beside)
        return Site(name, neighbours, Random(name), brokers=tuple(names), tree=self.tree)

    def _request(self) -> int:
        self._requests += 1
        self.pending[self._requests] = 0
        return self._requests

    def attach(self, client: str, broker: str) -> None:
        self.home[client] = broker
        self._ask(client, PortUp(client_port(client), 1))

    def advertise(self, client: str, adv: str, text: str = "*", lang: Lang = "attr") -> int:
        return self._tell(client, Advertise(adv, text, lang, client))

    def subscribe(self, client: str, sub: str, text: str, lang: Lang = "attr") -> int:
        self.wanted[sub] = (client, parse(text, lang))
        return self._tell(client, Subscribe(sub, text, lang))

    def unsubscribe(self, sub: str) -> int:
        client, _ = self.wanted.pop(sub)
        return self._tell(client, Unsubscribe(sub))

    def tell(self, client: str, body: Body) -> int:
        return self._tell(client, body)

    def _tell(self, client: str, body: Body) -> int:
        return self._ask(client, Heard(client_port(client), body))

    def _ask(self, client: str, change: PortUp | Heard) -> int:
        request, broker = self._request(), self.home[client]
        self._perform(broker, self.schemes[broker].apply(change), request)
        return request

    def publish(self, client: str, msg: str, content: Content, lang: Lang = "attr") -> None:
        publication = Publication(msg, client, 1, lang, content)
        self.delivered[msg], self.crossed[msg] = [], set()
        self._route(self.home[client], client_port(client), publication, None)

    def _route(self, broker: str, port: Port, publication: Publication, header: Any) -> None:
        for forward in self.schemes[broker].route(port, publication, header):
            if forward.port.is_broker:
                self.crossed[publication.msg].add((broker, forward.port.name))
                self._put(broker, forward, 0)
            elif self._is_wanted(forward.port.name, publication):
                self.delivered[publication.msg].append(forward.port.name)

    def _is_wanted(self, client: str, publication: Publication) -> bool:
        """The broker's own last, exact test."""
        return any(
            holder == client and filter.lang == publication.lang and filter.matches(publication.content)
            for holder, filter in self.wanted.values()
        )

    def _perform(self, broker: str, effects: Iterable[Effect], request: int) -> None:
        for effect in effects:
            if isinstance(effect, Forward) and isinstance(effect.message, Body):
                self.controls += 1
                self.pending[request] += 1
                self.sending(broker, effect.port.name, effect.message)
                self._put(broker, effect, request)

    def _put(self, broker: str, forward: Forward, request: int) -> None:
        edge = (broker, forward.port.name)
        self.links[edge].append(UnderWay(forward.message, forward.header, request))
        self._ready.append(edge)

    def _take(self, edge: Edge) -> None:
        message, header, request = self.links[edge].popleft()
        source, target = edge
        if isinstance(message, Publication):
            self._route(target, broker_port(source), message, header)
            return
        self._perform(target, self.schemes[target].apply(Heard(broker_port(source), message)), request)
        self.pending[request] -= 1
        self.heard(source, target, message)

    def step(self, random: Random) -> bool:
        """One delivery on some link; false if nothing is under way."""
        if not self._ready:
            return False
        place = random.randrange(len(self._ready))
        edge = self._ready[place]
        del self._ready[place]
        self._take(edge)
        return True

    def drain(self) -> None:
        while self._ready:
            self._take(self._ready.popleft())

    def is_settled(self, request: int) -> bool:
        return not self.pending[request]

    def scheme(self, broker: str) -> Scheme:
        return self.schemes[broker]
