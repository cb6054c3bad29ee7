"""A broker without its sockets: frames in, items for the input queue out; items in, forwards out; frames out.

The shell owns the queue, the clock and the journal. It calls `receive` for what arrives, `handle` for one item after
the other, and `transmit` once the batch's records are written.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from node.core.acceptance import accept_body, accept_publication
from node.core.errors import InvariantViolation, PeerError
from node.core.items import ClientAbsent, ClientGone, Item, Malformed, Outcome, PeerDown, PeerUp, Sent
from node.core.messages import (
    COMMON_BODIES,
    Body,
    Codec,
    Control,
    Deliver,
    Payload,
    Port,
    Publication,
    Publish,
    Refused,
    Settled,
    broker_port,
    kind_of,
)
from node.core.schemes.base import (
    After,
    Delivered,
    Effect,
    Forward,
    Heard,
    Persist,
    PortDown,
    PortUp,
    Scheme,
    SetTimer,
    TimerFired,
)
from node.core.session import MS, Frame, Limits, Session, Ticket
from node.core.settling import Cause, Settling
from node.core.wakes import Wakes
from node.core.wishes import NOTHING, Wishes, Word


class _Undecided(NamedTuple):
    came_from: Port
    publication: Publication
    header: object
    ticket: Ticket


SELF = Port("self", "")
CLIENT_SILENCE_NS = 120_000 * MS
"""After so long a client is taken for one that does not come back."""


class BrokerState:
    def __init__(
        self,
        scheme: Scheme,
        inc: int,
        codec: Codec,
        now: int,
        limits: Limits,
        client_silence_ns: int = CLIENT_SILENCE_NS,
    ) -> None:
        self.scheme = scheme
        self.inc = inc
        self._codec = codec
        self._limits = limits
        self._is_leaving = False
        self._client_silence_ns = client_silence_ns
        self.sessions: dict[Port, Session[bytes]] = {}
        for neighbour in scheme.site.neighbours:
            self._session(broker_port(neighbour.name), now)
        self._settling = Settling()
        self._next_mid = 1
        self._wishes = Wishes()
        # Publications for which it is not known yet whether these neighbours want them.
        self._undecided: dict[Port, list[_Undecided]] = {port: [] for port in scheme.unknown()}
        # Clients that the predecessor had when it ended in order -> until when what they may want is kept for them.
        self._expected: dict[Port, int] = {}
        self._silent: set[Port] = set(self.sessions)
        self._gone: set[Port] = set()
        self._dirty: dict[Port, None] = dict.fromkeys(self.sessions)
        self._timers: dict[str, int] = {}
        self._wakes = Wakes()
        for port in self.sessions:
            self._wakes.plan(port, now, now)

    def _session(self, port: Port, now: int) -> Session[bytes]:
        session = self.sessions.get(port)
        if session is None:
            session = self.sessions[port] = Session(self.inc, self._limits, now)
            if self._is_leaving:
                session.leave()
        return session

    def expect(self, words: Iterable[Word], now: int, until: int) -> Outcome:
        """Take up what the clients had told the predecessor, as if they had said it again; they are about to.

        Without that a neighbour would hear for a moment that nobody here offers or wants anything. Publications that
        come before a client is back wait for it.
        """
        outcome = Outcome()
        for word in words:
            self._expected[word.port] = until
            self._undecided[word.port] = []
            self._wishes.note(word.port, word.body)
            self._session(word.port, now)
            self._because(None, self.scheme.apply(Heard(word.port, word.body)), now, outcome)
        return outcome

    def receive(self, port: Port, frame: Frame[bytes], now: int) -> list[Item]:
        """Take a frame from the wire; returns what belongs into the input queue, in order."""
        session = self._session(port, now)
        received = session.receive(frame, now)
        self._dirty[port] = None
        self._gone.discard(port)
        items: list[Item] = []
        if received.renewed:
            self._silent.discard(port)
            items.append(Item(port, PeerUp(session.peer_inc, f"incarnation {session.peer_inc}")))
        elif port in self._silent and frame.inc == session.peer_inc:
            self._silent.discard(port)
            items.append(Item(port, PeerUp(session.peer_inc, "heard again")))
        for data in (*received.accepted, *received.loose):
            try:
                items.append(Item(port, self._codec.decode(data), session.peer_inc))
            except PeerError as error:
                items.append(Item(port, Malformed(error.why)))
        return items

    def tick(self, now: int) -> list[Item]:
        """Timers that are due, and ports that have fallen silent."""
        items = []
        if self._timers:
            fired = [name for name, due in sorted(self._timers.items()) if due <= now]
            for name in fired:
                del self._timers[name]
            items = [Item(SELF, TimerFired(name)) for name in fired]
        items += [Item(port, ClientAbsent()) for port, until in self._expected.items() if until <= now]
        for port in self._wakes.take(now):
            self._dirty[port] = None
            session = self.sessions[port]
            silence_ns = now - session.heard_at
            if port.is_broker:
                if silence_ns > self._limits.silence_ns and port not in self._silent:
                    self._silent.add(port)
                    session.fell_silent()
                    items.append(Item(port, PeerDown("silence")))
            elif silence_ns > self._client_silence_ns and port not in self._gone:
                self._gone.add(port)
                items.append(Item(port, ClientGone(f"silent for {silence_ns // 10**9} s")))
        return items

    def handle(self, item: Item, now: int) -> Outcome:
        outcome = Outcome()
        try:
            self._dispatch(item, now, outcome)
        except PeerError as error:
            outcome.refused.append((error.what, error.why))
        self._decide(now, outcome)
        for port in self._settling.holding:
            if not self._is_kept_waiting(port):
                self._tell_settled(self._settling.release(port), outcome)
        return outcome

    def _is_kept_waiting(self, port: Port) -> bool:
        """Whether a neighbour has yet to say what lies behind it: then what the port asks for may have to go there."""
        return any(name != port.name or not port.is_broker for name in self.scheme.waiting_for())

    def _dispatch(self, item: Item, now: int, outcome: Outcome) -> None:
        port, what = item.port, item.what
        match what:
            case Publish():
                self._publication(port, what, item.peer_inc, now, outcome)
            case Control() if item.peer_inc != self.sessions[port].bound_inc:
                pass  # from an incarnation that was succeeded before it was welcomed; its numbers mean nothing here
            case Control():
                self._control(port, what, now, outcome)
            case Settled(mid=mid) if port.is_broker:
                self._tell_settled(self._settling.settled(port, mid), outcome)
            case PeerUp():
                self._peer_up(port, what, now, outcome)
            case PeerDown():
                self._because(None, self.scheme.apply(PortDown(port)), now, outcome)
            case ClientAbsent():
                if self._expected.pop(port, None) is not None:
                    self._forget_client(port, now, outcome)
            case ClientGone():
                self._client_gone(port, now, outcome)
            case TimerFired():
                self._because(None, self.scheme.apply(what), now, outcome)
            case Malformed(why=why):
                raise PeerError(f"message from {port.name}", why)
            case _:
                raise PeerError(
                    f"message from {port.name}", f"{type(what).__name__} is not expected from a {port.kind}"
                )

    def _publication(self, port: Port, publish: Publish, peer_inc: int, now: int, outcome: Outcome) -> None:
        publication = publish.publication
        ticket = Ticket(port, peer_inc)
        try:
            header = accept_publication(port, publish, self.scheme.Header)
            for forward in self.scheme.route(port, publication, header):
                if forward.port not in self._undecided:
                    self._pass_on(forward, ticket, now, outcome)
            for neighbour, undecided in self._undecided.items():
                if neighbour != port:
                    ticket.copies += 1
                    undecided.append(_Undecided(port, publication, header, ticket))
        finally:
            if ticket.copies == 0:
                self._release(ticket)

    def _decide(self, now: int, outcome: Outcome) -> None:
        """A restarted broker keeps back what a neighbour may want until that neighbour has told, however long it takes.

        All of it, also what is known to be wanted: publications do not overtake each other.
        """
        if not self._undecided:
            return
        unknown = {*self.scheme.unknown(), *self._expected}
        for neighbour in [port for port in self._undecided if port not in unknown]:
            for came_from, publication, header, ticket in self._undecided.pop(neighbour):
                for forward in self.scheme.route(came_from, publication, header):
                    if forward.port == neighbour:
                        self._pass_on(forward, ticket, now, outcome)
                self._give_back([ticket])

    def _pass_on(self, forward: Forward, ticket: Ticket | None, now: int, outcome: Outcome) -> None:
        publication = forward.message
        assert isinstance(publication, Publication)
        port = forward.port
        session = self.sessions.get(port)
        if session is None:
            raise InvariantViolation(f"{self.scheme.name} sends {publication.msg} to {port.name}, which is not there")
        payload: Payload
        if port.is_broker:
            payload = Publish(publication, forward.header)
        else:
            subs = self._wishes.matching(port, publication)
            if not subs:
                return
            payload = Deliver(publication, subs)
            if "deliveries" in self.scheme.needs:
                self._because(None, self.scheme.apply(Delivered(port, publication, subs)), now, outcome)
        data = self._codec.encode(payload)
        if forward.reliable:
            if ticket is not None:
                ticket.copies += 1
            session.send_publication(data, ticket)
        else:
            session.send_loose(data)
        self._dirty[port] = None
        outcome.sent.append(Sent(port.name, "publication", publication.msg, None, None, 0, len(data)))

    def _control(self, port: Port, control: Control, now: int, outcome: Outcome) -> None:
        body = control.body
        if not port.is_broker and not isinstance(body, COMMON_BODIES):
            raise PeerError(f"message from {port.name}", f"a client does not send {kind_of(control)}")
        accepted, refused = accept_body(body)
        outcome.refused.extend(refused)
        if not port.is_broker:
            for what, why in refused:
                self._send(port, Refused(control.mid, what, why), outcome)
        if accepted is None:
            return
        if not port.is_broker:
            self._wishes.note(port, accepted)
        self._because((port, control.mid), self.scheme.apply(Heard(port, accepted)), now, outcome)
        # Whatever a client says first is everything it wants.
        self._expected.pop(port, None)

    def _peer_up(self, port: Port, up: PeerUp, now: int, outcome: Outcome) -> None:
        session = self.sessions[port]
        if up.incarnation != session.peer_inc:
            return  # an even newer one has come meanwhile, and waits in the queue
        if session.is_open:
            self._because(None, self.scheme.apply(PortUp(port, up.incarnation)), now, outcome)
            return
        if not port.is_broker:
            self._give_back(session.drop_publications())
        session.renew()
        causes = [self._settling.begin(None, rank_max=0), self._settling.begin(None)]
        self._settling.replace(port, causes)
        self._perform(causes, self.scheme.apply(PortUp(port, up.incarnation)), now, outcome)
        self._tell_settled(self._settling.end(causes), outcome)
        self._dirty[port] = None

    def _client_gone(self, port: Port, now: int, outcome: Outcome) -> None:
        """A client that does not come back must not hold up the network for ever."""
        self._give_back(self.sessions[port].drop_publications())
        self._forget_client(port, now, outcome)
        self._send(port, Refused(0, "session", "silent for too long, subscriptions dropped"), outcome)

    def _forget_client(self, port: Port, now: int, outcome: Outcome) -> None:
        self._wishes.note(port, NOTHING)
        self._because(None, self.scheme.apply(Heard(port, NOTHING)), now, outcome)

    def _because(self, origin: tuple[Port, int] | None, effects: Iterable[Effect], now: int, outcome: Outcome) -> None:
        causes = [self._settling.begin(origin)]
        self._perform(causes, effects, now, outcome)
        if origin is not None and self._is_kept_waiting(origin[0]):
            self._settling.hold(causes, origin[0])
        self._tell_settled(self._settling.end(causes), outcome)

    def _perform(self, causes: list[Cause], effects: Iterable[Effect], now: int, outcome: Outcome) -> None:
        for effect in effects:
            match effect:
                case Forward(message=Publication()):
                    self._pass_on(effect, None, now, outcome)
                case Forward(message=Body() as body):
                    self._send_body(causes if effect.awaited else [], effect.port, body, effect.reliable, outcome)
                case After(port=port, ids=ids):
                    self._settling.after(causes, port, ids)
                case SetTimer(name=name, after_ns=after_ns):
                    self._timers[name] = now + after_ns
                case Persist():
                    outcome.persist.append(effect)
                case _:
                    raise InvariantViolation(f"{self.scheme.name} wants {effect!r}, which is no effect")

    def _send_body(self, causes: list[Cause], port: Port, body: Body, reliable: bool, outcome: Outcome) -> None:
        if port not in self.sessions or not port.is_broker:
            raise InvariantViolation(f"{self.scheme.name} sends {body!r} to {port.name}, which is no neighbour")
        mid, self._next_mid = self._next_mid, self._next_mid + 1
        if reliable:
            self._settling.sent(causes, port, mid, body)
        # An advertisement must not overtake its own withdrawal either: who was cut off may repeat it under the same id.
        in_line = body.withdraws_publishers or (body.rank > 0 and self.sessions[port].has_control_in_line)
        self._send(port, Control(mid, body), outcome, reliable, in_line)

    def _tell_settled(self, mails: list[tuple[Port, int]], outcome: Outcome) -> None:
        for port, mid in mails:
            self._send(port, Settled(mid), outcome)

    def _send(
        self, port: Port, payload: Payload, outcome: Outcome, reliable: bool = True, in_line: bool = False
    ) -> None:
        data = self._codec.encode(payload)
        session = self.sessions[port]
        if not reliable:
            session.send_loose(data)
        elif in_line:
            session.send_in_line(data)
        else:
            session.send(data)
        self._dirty[port] = None
        sub, adv = payload.body.subject if isinstance(payload, Control) else (None, None)
        entries = payload.body.entries if isinstance(payload, Control) else 0
        outcome.sent.append(Sent(port.name, kind_of(payload), None, sub, adv, entries, len(data)))

    def _give_back(self, tickets: list[Ticket]) -> None:
        """Copies of publications have left, or were dropped with a dead peer: return the credit they held."""
        for ticket in tickets:
            ticket.copies -= 1
            if ticket.copies == 0:
                self._release(ticket)

    def _release(self, ticket: Ticket) -> None:
        session = self.sessions[ticket.port]
        session.release(ticket.peer_inc)
        if session.wants_to_transmit:
            self._dirty[ticket.port] = None

    def transmit(self, now: int) -> list[tuple[Port, Frame[bytes]]]:
        frames: list[tuple[Port, Frame[bytes]]] = []
        while self._dirty:
            ports, self._dirty = self._dirty, {}
            departed: list[Ticket] = []
            for port in ports:
                session = self.sessions[port]
                frames.extend((port, frame) for frame in session.transmit(now, departed))
                if port not in self._gone:
                    self._wakes.plan(port, self._due(port, session), now)
            self._give_back(departed)
        return frames

    def _due(self, port: Port, session: Session[bytes]) -> int:
        """When the session has to be looked at again at the latest: to send something, or because it was silent."""
        if not port.is_broker:
            return min(session.deadline(), session.heard_at + self._client_silence_ns + 1)
        if port in self._silent:
            return session.deadline()
        return min(session.deadline(), session.heard_at + self._limits.silence_ns + 1)

    @property
    def words(self) -> list[Word]:
        """What is left for a successor."""
        return list(self._wishes.words())

    def leave(self) -> None:
        """Take nothing more from anybody, so that what was taken can go out before the end."""
        self._is_leaving = True
        for port, session in self.sessions.items():
            session.leave()
            self._dirty[port] = None

    def has_left(self, now: int) -> bool:
        """Nothing that was taken is still here, and whoever is in touch keeps the rest for the successor."""
        known = [session for port, session in self.sessions.items() if port not in self._gone and session.is_open]
        in_touch = [session for session in known if now - session.heard_at <= self._limits.silence_ns]
        return (
            not any(self._undecided.values())
            and not any(session.has_publications for session in known)
            and all(session.peer_knows for session in in_touch)
        )

    @property
    def unacked(self) -> int:
        """What waits for a client that has gone does not count: it waits until the client is heard of again."""
        return sum(session.waiting for port, session in self.sessions.items() if port not in self._gone)

    @property
    def unsettled(self) -> int:
        return self._settling.unsettled

    def waiting_for(self) -> list[str]:
        """The neighbours without whom this broker is not ready."""
        missing = [p.name for p, s in self.sessions.items() if p.is_broker and (not s.is_open or p in self._silent)]
        return sorted({*missing, *self.scheme.waiting_for()})

    def deadline(self) -> int | None:
        """When `tick` and `transmit` have to be called again at the latest."""
        dues = [*self._timers.values(), *self._expected.values()]
        if (woken_at := self._wakes.deadline()) is not None:
            dues.append(woken_at)
        return min(dues, default=None)
