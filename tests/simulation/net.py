"""A whole network of real broker and client states on a wire that loses, doubles and reorders, in virtual time."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from random import Random

from node.core.client import Advertised, ClientState, Delivery, Established, Event, Unsubscribed
from node.core.items import Item
from node.core.messages import Port, broker_port, client_port
from node.core.overlay import spanning_tree
from node.core.schemes.base import Neighbour, Scheme, Site
from node.core.schemes.registry import build
from node.core.session import MS, Limits
from node.core.state import BrokerState
from node.wire import WireCodec, decode_frame, encode_frames

TICK_NS = 50 * MS


@dataclass
class Wire:
    """How bad the weather is."""

    loss: float = 0.0
    double: float = 0.0
    delay_ns_max: int = 20 * MS


@dataclass
class Subscribed:
    client: str
    text: str
    asked_at: int
    established_at: int | None = None
    cancel_asked_at: int | None = None
    cancelled_at: int | None = None


@dataclass
class Published:
    publisher: str
    seq: int
    content: dict[str, object]
    at: int


@dataclass
class History:
    subs: dict[str, Subscribed] = field(default_factory=dict)
    published: dict[str, Published] = field(default_factory=dict)
    deliveries: list[tuple[str, str, tuple[str, ...]]] = field(default_factory=list)


class Net:
    def __init__(
        self,
        scheme: str,
        links: list[tuple[str, str]],
        *,
        seed: int = 0,
        wire: Wire | None = None,
        limits: Limits | None = None,
        work_ns_max: int = 5 * MS,
    ) -> None:
        self.scheme = scheme
        self.links = links
        self.names = sorted({name for link in links for name in link})
        self.random = Random(seed)
        self.wire = wire or Wire()
        self.limits = limits or Limits()
        self.work_ns_max = work_ns_max
        self.now = 1_000 * MS
        self.history = History()
        self.cut: set[frozenset[str]] = set()
        self.brokers: dict[str, BrokerState] = {}
        self.queues: dict[str, deque[Item]] = {}
        self.incs = dict.fromkeys(self.names, 0)
        self.clients: dict[str, ClientState] = {}
        self.paused: set[str] = set()
        self.frames_sent = 0
        self.forwards: list[tuple[str, str, str, str | None]] = []
        self.refused: list[tuple[str, str]] = []
        self.after_step: Callable[[str], None] = lambda broker: None
        self._events: list[tuple[int, int, Callable[[], None]]] = []
        self._tie = count()
        self.tree = spanning_tree(self.names, [(a, b, 1) for a, b in links])
        self._tree = {frozenset(edge) for edge in self.tree}
        for name in self.names:
            self.start(name)

    def at(self, when: int, what: Callable[[], None]) -> None:
        heapq.heappush(self._events, (when, next(self._tie), what))

    def site(self, name: str) -> Site:
        others = sorted({a if b == name else b for a, b in self.links if name in (a, b)})
        neighbours = tuple(Neighbour(o, in_tree=frozenset((o, name)) in self._tree) for o in others)
        return Site(name, neighbours, self.random, brokers=tuple(self.names), tree=self.tree)

    def start(self, name: str) -> None:
        self.incs[name] += 1
        scheme: Scheme = build(self.scheme, self.site(name), {})
        state = BrokerState(scheme, self.incs[name], WireCodec(scheme.controls), self.now, self.limits)
        self.brokers[name] = state
        self.queues[name] = deque()
        self.at(self.now, lambda: self._beat(name, state))

    def kill(self, name: str) -> None:
        del self.brokers[name]
        del self.queues[name]

    def _beat(self, name: str, state: BrokerState) -> None:
        if self.brokers.get(name) is not state:
            return
        self._enqueue(name, state.tick(self.now))
        self._transmit(name)
        self.at(self.now + TICK_NS, lambda: self._beat(name, state))

    def _enqueue(self, name: str, items: list[Item]) -> None:
        state = self.brokers[name]
        for item in items:
            self.queues[name].append(item)
            self.at(self.now + self.random.randrange(self.work_ns_max + 1), lambda: self._work(name, state))

    def _work(self, name: str, state: BrokerState) -> None:
        if self.brokers.get(name) is not state:
            return
        item = self.queues[name].popleft()
        outcome = state.handle(item, self.now)
        self.refused.extend(outcome.refused)
        self.forwards.extend((name, sent.to, sent.kind, sent.msg or sent.sub or sent.adv) for sent in outcome.sent)
        self.after_step(name)
        self._transmit(name)

    def _transmit(self, name: str) -> None:
        for port, frame in self.brokers[name].transmit(self.now):
            for data in encode_frames(frame):
                self._put(broker_port(name), port, data)

    def _put(self, source: Port, target: Port, data: bytes) -> None:
        self.frames_sent += 1
        if frozenset((source.name, target.name)) in self.cut:
            return
        between_brokers = source.is_broker and target.is_broker
        if between_brokers and self.random.random() < self.wire.loss:
            return
        copies = 2 if between_brokers and self.random.random() < self.wire.double else 1
        for _ in range(copies):
            delay = self.random.randrange(1, self.wire.delay_ns_max + 1)
            self.at(self.now + delay, lambda: self._arrive(source, target, data))

    def _arrive(self, source: Port, target: Port, data: bytes) -> None:
        frame = decode_frame(data)
        if target.is_broker:
            state = self.brokers.get(target.name)
            if state is not None:
                self._enqueue(target.name, state.receive(source, frame, self.now))
                self._transmit(target.name)
            return
        client = self.clients[target.name]
        if target.name in self.paused or not client.knows(source.name):
            return
        for event in client.receive(source.name, frame, self.now):
            self._note(client, event)
        self._transmit_client(client)

    def _note(self, client: ClientState, event: Event) -> None:
        match event:
            case Established(sub=sub):
                self.history.subs[sub].established_at = self.now
            case Unsubscribed(sub=sub):
                self.history.subs[sub].cancelled_at = self.now
            case Delivery(broker=broker, publication=publication, subs=subs):
                self.history.deliveries.append((client.client, publication.msg, subs))
                client.consumed(broker)
            case Advertised():
                pass

    def add_client(self, name: str, broker: str) -> ClientState:
        client = ClientState(name, 1, WireCodec(self.brokers_codec()), self.limits)
        self.clients[name] = client
        client.attach(broker, self.now)
        self.at(self.now, lambda: self._client_beat(client))
        return client

    def brokers_codec(self) -> tuple[type, ...]:
        from node.core.schemes.registry import find

        return find(self.scheme).controls

    def restart_client(self, name: str) -> ClientState:
        """The client dies and comes back as a new incarnation that holds nothing and is attached nowhere."""
        before = self.clients[name]
        client = ClientState(name, before.inc + 1, WireCodec(self.brokers_codec()), self.limits, before.next_seq)
        self.clients[name] = client
        self.at(self.now, lambda: self._client_beat(client))
        return client

    def attach(self, name: str, broker: str) -> None:
        self.clients[name].attach(broker, self.now)
        self._transmit_client(self.clients[name])

    def detach(self, name: str, broker: str | None = None) -> None:
        client = self.clients[name]
        for event in client.detach(broker):
            self._note(client, event)
        self._transmit_client(client)

    def _client_beat(self, client: ClientState) -> None:
        if self.clients[client.client] is not client:
            return
        if client.client not in self.paused:
            self._transmit_client(client)
        self.at(self.now + TICK_NS, lambda: self._client_beat(client))

    def _transmit_client(self, client: ClientState) -> None:
        for broker, frame in client.transmit(self.now):
            for data in encode_frames(frame):
                self._put(client_port(client.client), broker_port(broker), data)

    def subscribe(self, client: str, sub: str, text: str) -> None:
        self.clients[client].subscribe(sub, text)
        self.history.subs[sub] = Subscribed(client, text, self.now)
        self._transmit_client(self.clients[client])

    def unsubscribe(self, sub: str) -> None:
        subscribed = self.history.subs[sub]
        self.clients[subscribed.client].unsubscribe(sub)
        subscribed.cancel_asked_at = self.now
        self._transmit_client(self.clients[subscribed.client])

    def advertise(self, client: str, adv: str, text: str) -> None:
        self.clients[client].advertise(adv, text)
        self._transmit_client(self.clients[client])

    def unadvertise(self, client: str, adv: str) -> None:
        self.clients[client].unadvertise(adv)
        self._transmit_client(self.clients[client])

    def publish(self, client: str, content: dict[str, object]) -> str:
        publication = self.clients[client].publish(content)  # type: ignore[arg-type]
        self.history.published[publication.msg] = Published(client, publication.seq, content, self.now)
        self._transmit_client(self.clients[client])
        return publication.msg

    def step(self) -> None:
        when, _, what = heapq.heappop(self._events)
        self.now = max(self.now, when)
        what()

    def run(self, for_ns: int) -> None:
        end = self.now + for_ns
        while self._events and self._events[0][0] <= end:
            self.step()
        self.now = end

    def is_quiet(self) -> bool:
        return (
            set(self.brokers) == set(self.names)
            and not any(self.queues.values())
            and all(not b.unacked and not b.unsettled and not b.waiting_for() for b in self.brokers.values())
            and all(not c.pending and self._in_touch(c) for n, c in self.clients.items() if n not in self.paused)
        )

    def _in_touch(self, client: ClientState) -> bool:
        # A client that has not noticed its broker's restart would publish to the dead one.
        return all(client.broker_inc(broker) == self.incs[broker] for broker in client.brokers)

    def settle(self, within_ns: int = 120_000 * MS) -> None:
        end = self.now + within_ns
        while not self.is_quiet():
            if self.now > end:
                raise AssertionError(f"not quiet after {within_ns // MS} ms: {self.why_not_quiet()}")
            self.step()

    def why_not_quiet(self) -> str:
        reasons = [f"{n} is dead" for n in self.names if n not in self.brokers]
        for name, broker in self.brokers.items():
            reasons.append(
                f"{name}: queue {len(self.queues[name])} unacked {broker.unacked} unsettled {broker.unsettled} "
                f"waits for {broker.waiting_for()}"
            )
        reasons += [f"{n}: pending {c.pending}" for n, c in self.clients.items() if c.pending]
        return "; ".join(reasons)

    def check(self) -> None:
        for broker in self.brokers.values():
            broker.scheme.check()
