"""A client without its socket: what it holds, what it waits for, what it may publish.

Each session with a broker's incarnation starts with a snapshot of everything the client holds, so a client that
reconnects, or whose broker was restarted, keeps its subscriptions without anyone's help.

A client that moves is attached to two brokers for a while. As long as it has not left the old one it takes only what
that one brings, and keeps back what the new one brings: what is faster on the new way must not overtake what is still
under way to the old broker. When it leaves, it takes what was kept back and had not come by the old way.
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

BROKERS_MAX = 2
"""At a time: the one it leaves and the one it goes to."""


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
    broker: str
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
        self._at: list[str] = []
        self.held: dict[str, Held] = {}
        self._got: dict[str, int] = {}
        self._got_elsewhere: dict[str, int] = {}
        self._kept_back: dict[str, Delivery] = {}
        self._last_broker: str | None = None
        self._sessions: dict[str, Session[bytes]] = {}
        self._awaited: dict[str, dict[int, _Awaited]] = {}
        # The snapshot that opened a session is under way everywhere: until it is settled, what those who advertised
        # publish would be routed by what brokers knew before.
        self._reopening: dict[str, int | None] = {}
        # The broker's incarnation that each delivery not yet consumed came from, oldest first.
        self._unconsumed: dict[str, deque[int]] = {}
        self._next_mid = 1
        self.next_seq = first_seq

    @property
    def broker(self) -> str | None:
        """Where it asks and publishes: the broker that it came to last."""
        return self._at[-1] if self._at else None

    @property
    def brokers(self) -> tuple[str, ...]:
        """Where it is attached: nowhere, at one broker, or at two while it moves, the old one first."""
        return tuple(self._at)

    def attach(self, broker: str, now: int) -> None:
        """Take up a broker: a new session, or the old one if the client was there before.

        Who moves waits before until everything is confirmed where it was: what the old broker brings has to be all
        that it wants there, or what only the new one brings would be taken for something that was overtaken.
        """
        if broker in self._at or len(self._at) == BROKERS_MAX:
            raise ValueError(f"client {self.client} is attached to {' and '.join(self._at)} already")
        if self._at and not self.is_confirmed:
            raise ValueError(f"client {self.client} has asked {self._at[0]} for something that is not confirmed yet")
        if not self._at and self._last_broker not in (None, broker):
            self._got_elsewhere = dict(self._got)
        self._at.append(broker)
        self._last_broker = broker
        session = self._sessions.get(broker)
        if session is None:
            self._sessions[broker] = Session(self.inc, self._limits, now)
            self._awaited[broker] = {}
            self._unconsumed[broker] = deque()
        elif session.is_open:
            self._send_snapshot(broker)

    def detach(self, broker: str | None = None) -> list[Event]:
        """Leave that broker, or all: everything held there is cancelled, without confirmation to the client's owner.

        Returns what had been kept back until now.
        """
        self._attached()
        for left in [broker] if broker is not None else list(self._at):
            self._leave(left)
        return self._take_kept_back() if len(self._at) == 1 else []

    def _leave(self, broker: str) -> None:
        if broker not in self._at:
            raise ValueError(f"client {self.client} is not attached to {broker}")
        self.held = {key: held for key, held in self.held.items() if held.broker != broker}
        self._awaited[broker].clear()
        if self._sessions[broker].is_open:
            self._send_snapshot(broker)
        self._at.remove(broker)
        if self._at:
            self._got_elsewhere = dict(self._got)
        for msg in [msg for msg, kept in self._kept_back.items() if kept.broker == broker]:
            self._drop_double(msg)

    def _take_kept_back(self) -> list[Event]:
        taken: list[Event] = []
        for msg, kept in list(self._kept_back.items()):
            made = kept.publication
            if made.seq <= self._got_elsewhere.get(made.publisher, 0):
                self._drop_double(msg)
            else:
                self._got[made.publisher] = made.seq
                taken.append(self._kept_back.pop(msg))
        return taken

    def _drop_double(self, msg: str) -> None:
        kept = self._kept_back.pop(msg, None)
        if kept is not None:
            self.consumed(kept.broker)

    def _attached(self) -> str:
        if not self._at:
            raise ValueError(f"client {self.client} is not attached to a broker")
        return self._at[-1]

    def subscribe(self, sub: str, text: str, lang: Lang = "attr") -> None:
        self._ask(sub, Subscribe(sub, text, lang))

    def advertise(self, adv: str, text: str, lang: Lang = "attr") -> None:
        self._ask(adv, Advertise(adv, text, lang, self.client))

    def _ask(self, key: str, body: Subscribe | Advertise) -> None:
        broker = self._attached()
        if key in self.held:
            raise ValueError(f"the id {key} is in use")
        self.held[key] = Held(body, parse(body.filter, body.lang), broker)
        self._send(broker, body, _Awaited(asked=(key,)))

    def unsubscribe(self, sub: str) -> None:
        self._cancel(sub, Unsubscribe(sub))

    def unadvertise(self, adv: str) -> None:
        self._cancel(adv, Unadvertise(adv))

    def _cancel(self, key: str, body: Unsubscribe | Unadvertise) -> None:
        self._attached()
        held = self.held[key]
        held.state = "cancelling"
        self._send(held.broker, body, _Awaited(cancelled=(key,)))

    def _send(self, broker: str, body: Body, awaited: _Awaited) -> None:
        session = self._sessions[broker]
        if not session.is_open:
            return  # the snapshot that opens the session will say it
        mid, self._next_mid = self._next_mid, self._next_mid + 1
        self._awaited[broker][mid] = awaited
        session.send(self._codec.encode(Control(mid, body)))

    def _send_snapshot(self, broker: str) -> None:
        here = {key: h for key, h in self.held.items() if h.broker == broker}
        kept = [h.body for h in here.values() if h.state != "cancelling"]
        asked = tuple(key for key, h in here.items() if h.state == "asked")
        cancelled = tuple(key for key, h in here.items() if h.state == "cancelling")
        snapshot = Snapshot(
            tuple(b for b in kept if isinstance(b, Subscribe)), tuple(b for b in kept if isinstance(b, Advertise))
        )
        mid = self._next_mid
        self._send(broker, snapshot, _Awaited(asked, cancelled))
        self._hold(broker, mid if snapshot.advs and mid in self._awaited[broker] else None)

    def _hold(self, broker: str, until_settled: int | None) -> None:
        self._reopening[broker] = until_settled
        self._sessions[broker].is_held = until_settled is not None

    def knows(self, broker: str) -> bool:
        """Whether this incarnation of the client ever was attached to it."""
        return broker in self._sessions

    def broker_inc(self, broker: str) -> int:
        """The incarnation of that broker that the client is in touch with; 0 if none."""
        session = self._sessions[broker]
        return session.peer_inc if session.is_open else 0

    @property
    def can_publish(self) -> bool:
        """Whether a publication handed over now would leave at once."""
        return self.broker is not None and self._sessions[self.broker].has_credit

    def may_publish(self, content: Content, lang: Lang) -> bool:
        """Who advertised publishes only what one of its confirmed advertisements matches."""
        advs = [h for h in self.held.values() if isinstance(h.body, Advertise) and h.broker == self.broker]
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
            if broker in self._at:
                self._send_snapshot(broker)
        events: list[Event] = []
        for data in received.accepted:
            payload = self._codec.decode(data)
            match payload:
                case Deliver():
                    events.extend(self._delivery(broker, session, payload))
                case Settled(mid=mid):
                    if self._reopening.get(broker) == mid:
                        self._hold(broker, None)
                    events.extend(self._confirmed(self._awaited[broker].pop(mid, _Awaited())))
                case Refused(what="session"):
                    if broker in self._at:
                        self._send_snapshot(broker)
                case Refused(what=what, why=why):
                    self.held.pop(what, None)
                    events.append(RefusedByBroker(what, why))
        return events

    def _delivery(self, broker: str, session: Session[bytes], deliver: Deliver) -> list[Event]:
        subs = tuple(sub for sub in deliver.subs if sub in self.held)
        made = deliver.publication
        is_early = broker != self._at[0] if subs else False
        # A message may be slower on its way to the new broker than the client that moved there.
        got = self._got if is_early else self._got_elsewhere
        if not subs or made.seq <= got.get(made.publisher, 0):
            session.release(session.peer_inc)
            return []
        self._unconsumed[broker].append(session.peer_inc)
        delivery = Delivery(broker, made, subs)
        if is_early:
            self._kept_back[made.msg] = delivery
            return []
        self._got[made.publisher] = made.seq
        self._drop_double(made.msg)
        return [delivery]

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
        """Those with the client's brokers, and those with former ones that something is still due to."""
        return [(b, s) for b, s in self._sessions.items() if b in self._at or s.waiting or s.wants_to_transmit]

    @property
    def is_confirmed(self) -> bool:
        """Whether nothing that it asked for is open."""
        return all(held.state == "confirmed" for held in self.held.values())

    @property
    def pending(self) -> int:
        """Requests without an answer and publications without an acknowledgement."""
        waiting = sum(session.waiting for session in self._sessions.values())
        return waiting + sum(h.state != "confirmed" for h in self.held.values())
