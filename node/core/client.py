"""A client without its socket: what it holds, what it waits for, what it may publish.

Each session with a broker's incarnation starts with a snapshot of everything the client holds, so a client that
reconnects, or whose broker was restarted, keeps its subscriptions without anyone's help.
"""

from __future__ import annotations

from collections import deque

from msgspec import Struct

from node.core.filters import Filter, check_content, parse
from node.core.messages import (
    Advertise,
    Body,
    Codec,
    Control,
    Deliver,
    Publication,
    Publish,
    Refused,
    Settled,
    Snapshot,
    Subscribe,
    Unadvertise,
    Unsubscribe,
)
from node.core.records import Content, Lang
from node.core.session import Frame, Limits, Session


class Established(Struct, frozen=True):
    sub: str


class Unsubscribed(Struct, frozen=True):
    sub: str


class Advertised(Struct, frozen=True):
    adv: str


class Unadvertised(Struct, frozen=True):
    adv: str


class Delivery(Struct, frozen=True):
    broker: str
    publication: Publication
    subs: tuple[str, ...]


class RefusedByBroker(Struct, frozen=True):
    what: str
    why: str


Event = Established | Unsubscribed | Advertised | Unadvertised | Delivery | RefusedByBroker


class Held(Struct):
    """A subscription or an advertisement, and where it stands: asked, confirmed or cancelling."""

    body: Subscribe | Advertise
    filter: Filter
    state: str = "asked"


class _Awaited(Struct, frozen=True):
    """What a confirmation will confirm."""

    asked: tuple[str, ...] = ()
    cancelled: tuple[str, ...] = ()


class ClientState:
    def __init__(self, client: str, inc: int, codec: Codec, limits: Limits, first_seq: int = 1) -> None:
        self.client = client
        self.inc = inc
        self._codec = codec
        self._limits = limits
        self.broker: str | None = None
        self.held: dict[str, Held] = {}
        self._got: dict[str, int] = {}
        self._got_elsewhere: dict[str, int] = {}
        self._last_broker: str | None = None
        self._sessions: dict[str, Session[bytes]] = {}
        self._awaited: dict[str, dict[int, _Awaited]] = {}
        # The broker's incarnation that each delivery not yet consumed came from, oldest first.
        self._unconsumed: dict[str, deque[int]] = {}
        self._next_mid = 1
        self.next_seq = first_seq

    def attach(self, broker: str, now: int) -> None:
        """Take up a broker: a new session, or the old one if the client was there before."""
        if self._last_broker not in (None, broker):
            self._got_elsewhere = dict(self._got)
        self.broker = self._last_broker = broker
        session = self._sessions.get(broker)
        if session is None:
            self._sessions[broker] = Session(self.inc, self._limits, now)
            self._awaited[broker] = {}
            self._unconsumed[broker] = deque()
        elif session.is_open:
            self._send_snapshot()

    def detach(self) -> None:
        """Leave: everything held is cancelled, without confirmation to the client's owner."""
        self.held.clear()
        broker = self._attached()
        self._awaited[broker].clear()
        if self._sessions[broker].is_open:
            self._send_snapshot()
        self.broker = None

    def _attached(self) -> str:
        if self.broker is None:
            raise ValueError(f"client {self.client} is not attached to a broker")
        return self.broker

    def subscribe(self, sub: str, text: str, lang: Lang = "attr") -> None:
        self._ask(sub, Subscribe(sub, text, lang))

    def advertise(self, adv: str, text: str, lang: Lang = "attr") -> None:
        self._ask(adv, Advertise(adv, text, lang, self.client))

    def _ask(self, key: str, body: Subscribe | Advertise) -> None:
        broker = self._attached()
        if key in self.held:
            raise ValueError(f"the id {key} is in use")
        self.held[key] = Held(body, parse(body.filter, body.lang))
        self._send(broker, body, _Awaited(asked=(key,)))

    def unsubscribe(self, sub: str) -> None:
        self._cancel(sub, Unsubscribe(sub))

    def unadvertise(self, adv: str) -> None:
        self._cancel(adv, Unadvertise(adv))

    def _cancel(self, key: str, body: Unsubscribe | Unadvertise) -> None:
        broker = self._attached()
        self.held[key].state = "cancelling"
        self._send(broker, body, _Awaited(cancelled=(key,)))

    def _send(self, broker: str, body: Body, awaited: _Awaited) -> None:
        session = self._sessions[broker]
        if not session.is_open:
            return  # the snapshot that opens the session will say it
        mid, self._next_mid = self._next_mid, self._next_mid + 1
        self._awaited[broker][mid] = awaited
        session.send(self._codec.encode(Control(mid, body)))

    def _send_snapshot(self) -> None:
        kept = [h.body for h in self.held.values() if h.state != "cancelling"]
        asked = tuple(key for key, h in self.held.items() if h.state == "asked")
        cancelled = tuple(key for key, h in self.held.items() if h.state == "cancelling")
        snapshot = Snapshot(
            tuple(b for b in kept if isinstance(b, Subscribe)), tuple(b for b in kept if isinstance(b, Advertise))
        )
        self._send(self._attached(), snapshot, _Awaited(asked, cancelled))

    def knows(self, broker: str) -> bool:
        """Whether this incarnation of the client ever was attached to it."""
        return broker in self._sessions

    @property
    def broker_inc(self) -> int:
        """The incarnation of its broker that the client is in touch with; 0 if none."""
        session = None if self.broker is None else self._sessions[self.broker]
        return session.peer_inc if session is not None and session.is_open else 0

    @property
    def can_publish(self) -> bool:
        """Whether a publication handed over now would leave at once."""
        return self.broker is not None and self._sessions[self.broker].has_credit

    def may_publish(self, content: Content, lang: Lang) -> bool:
        """Who advertised publishes only what one of its confirmed advertisements matches."""
        advs = [h for h in self.held.values() if isinstance(h.body, Advertise)]
        return not advs or any(
            h.state == "confirmed" and h.filter.lang == lang and h.filter.matches(content) for h in advs
        )

    def publish(self, content: Content, lang: Lang = "attr") -> Publication:
        check_content(content, lang)
        seq, self.next_seq = self.next_seq, self.next_seq + 1
        publication = Publication(f"{self.client}:{seq}", self.client, seq, lang, content)
        self._sessions[self._attached()].send_publication(self._codec.encode(Publish(publication)))
        return publication

    def receive(self, broker: str, frame: Frame[bytes], now: int) -> list[Event]:
        """Take a frame; raises PeerError if a payload in it cannot be decoded."""
        session = self._sessions[broker]
        received = session.receive(frame, now)
        if received.renewed:
            session.renew()
            self._awaited[broker].clear()
            if broker == self.broker:
                self._send_snapshot()
        events: list[Event] = []
        for data in received.accepted:
            payload = self._codec.decode(data)
            match payload:
                case Deliver():
                    events.extend(self._delivery(broker, session, payload))
                case Settled(mid=mid):
                    events.extend(self._confirmed(self._awaited[broker].pop(mid, _Awaited())))
                case Refused(what="session"):
                    if broker == self.broker:
                        self._send_snapshot()
                case Refused(what=what, why=why):
                    self.held.pop(what, None)
                    events.append(RefusedByBroker(what, why))
        return events

    def _delivery(self, broker: str, session: Session[bytes], deliver: Deliver) -> list[Event]:
        subs = tuple(sub for sub in deliver.subs if sub in self.held)
        made = deliver.publication
        # A message may be slower on its way to the new broker than the client that moved there.
        if not subs or made.seq <= self._got_elsewhere.get(made.publisher, 0):
            session.release(session.peer_inc)
            return []
        self._got[made.publisher] = made.seq
        self._unconsumed[broker].append(session.peer_inc)
        return [Delivery(broker, deliver.publication, subs)]

    def _confirmed(self, awaited: _Awaited) -> list[Event]:
        events: list[Event] = []
        for key in awaited.asked:
            held = self.held.get(key)
            if held is not None and held.state == "asked":
                held.state = "confirmed"
                events.append(Established(key) if isinstance(held.body, Subscribe) else Advertised(key))
        for key in awaited.cancelled:
            held = self.held.pop(key, None)
            if held is not None:
                events.append(Unsubscribed(key) if isinstance(held.body, Subscribe) else Unadvertised(key))
        return events

    def consumed(self, broker: str) -> None:
        """The oldest delivery from that broker was dealt with: it may send another one."""
        self._sessions[broker].release(self._unconsumed[broker].popleft())

    def transmit(self, now: int) -> list[tuple[str, Frame[bytes]]]:
        frames: list[tuple[str, Frame[bytes]]] = []
        for broker, session in self._live_sessions():
            frames.extend((broker, frame) for frame in session.transmit(now, []))
        return frames

    def deadline(self) -> int | None:
        """When `transmit` has to be called again at the latest; None if there is nobody to talk to."""
        return min((session.deadline() for _, session in self._live_sessions()), default=None)

    def _live_sessions(self) -> list[tuple[str, Session[bytes]]]:
        """The one with the client's broker, and those with former ones that something is still due to."""
        return [(b, s) for b, s in self._sessions.items() if b == self.broker or s.waiting or s.wants_to_transmit]

    @property
    def pending(self) -> int:
        """Requests without an answer and publications without an acknowledgement."""
        waiting = sum(session.waiting for session in self._sessions.values())
        return waiting + sum(h.state != "confirmed" for h in self.held.values())
