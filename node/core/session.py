"""Reliable, ordered, exactly-once links between two incarnations, over a wire that loses, doubles and reorders.

A frame names both incarnations. Each pair of incarnations has its own numbering, so a frame meant for a dead broker,
or sent by one, is never taken for one of its successor's. Publications need credit (see docs/design.md); control
payloads do not, and overtake publications that wait for credit.
"""

from __future__ import annotations

from collections import deque
from typing import Generic, NamedTuple, TypeVar

from msgspec import Struct

from node.core.messages import Port

MS = 1_000_000
P = TypeVar("P")


class Frame(Struct, Generic[P], frozen=True, array_like=True):
    inc: int
    peer_inc: int
    ack: int
    credit: int
    early: int
    seq: int
    payloads: list[P]
    loose: list[P]
    leaving: int = 0
    """LEAVES, KNOWS, both or neither."""


LEAVES = 1
"""The sender takes nothing more before its end: what it has not acknowledged, it has not taken."""
KNOWS = 2
"""The sender knows that of the receiver."""


class Limits(Struct, frozen=True, kw_only=True):
    """Every figure of a session in one place."""

    window: int = 2048
    credit: int = 256
    batch: int = 128
    heartbeat_ns: int = 500 * MS
    silence_ns: int = 2_500 * MS
    resend_ns_min: int = 200 * MS
    resend_ns_max: int = 2_000 * MS


class Ticket:
    """A publication inside a broker: its credit goes back when the last of its copies has left."""

    __slots__ = ("copies", "peer_inc", "port")

    def __init__(self, port: Port, peer_inc: int) -> None:
        self.port = port
        self.peer_inc = peer_inc
        self.copies = 0


class _InLine(NamedTuple, Generic[P]):
    """A publication, or a control payload that must not overtake those handed over before it."""

    number: int
    payload: P
    needs_credit: bool
    ticket: Ticket | None = None


class Received(NamedTuple, Generic[P]):
    accepted: list[P]
    loose: list[P]
    renewed: bool


class Session(Generic[P]):
    """One side of a link. `renew` must be called when the news of a new peer incarnation has been dealt with."""

    def __init__(self, inc: int, limits: Limits, now: int) -> None:
        self.inc = inc
        self.limits = limits
        self.peer_inc = 0
        self.heard_at = now
        self.is_silent = False
        self.is_held = False
        """Publications wait: the owner knows that the peer could not route them yet."""
        self._handed_over = 0
        self._line: deque[_InLine[P]] = deque()
        self._sent_at = now - limits.heartbeat_ns
        self._owes_ack = False
        self._leaves = False
        self._peer_leaves = False
        self.peer_knows = False
        """The peer knows that we leave, and keeps for our successor what we have not taken."""
        self._reset_sending(0)
        self._reset_receiving()

    def _reset_sending(self, bound_inc: int) -> None:
        self.bound_inc = bound_inc
        self._control: deque[tuple[int, P]] = deque()
        self._loose: list[P] = []
        # Number, payload, when it was sent (0: more than once), whether it is a publication.
        self._unacked: deque[tuple[int, P, int, bool]] = deque()
        self._next_seq = 1
        self._published = 0
        self._credit = 0
        self._resend_at: int | None = None
        self._resends = 0
        self._rtt_ns = 0
        self._fast_resend_at = 0

    def _reset_receiving(self) -> None:
        self._expected = 1
        self._early: dict[int, P] = {}
        self._granted = self.limits.credit
        self._offered = 0

    def send(self, payload: P) -> None:
        self._handed_over += 1
        self._control.append((self._handed_over, payload))

    def send_publication(self, payload: P, ticket: Ticket | None = None) -> None:
        self._handed_over += 1
        self._line.append(_InLine(self._handed_over, payload, True, ticket))

    def send_in_line(self, payload: P) -> None:
        """Control that does not overtake the publications before it, not even those that wait for credit."""
        self._handed_over += 1
        self._line.append(_InLine(self._handed_over, payload, False))

    def send_loose(self, payload: P) -> None:
        """May be lost, doubled or reordered: the scheme repairs that itself."""
        self._loose.append(payload)

    @property
    def waiting(self) -> int:
        """Payloads not yet acknowledged, waiting for credit included."""
        return len(self._unacked) + len(self._control) + len(self._line)

    @property
    def has_control_in_line(self) -> bool:
        return any(not entry.needs_credit for entry in self._line)

    @property
    def is_open(self) -> bool:
        return self.bound_inc > 0 and self.bound_inc == self.peer_inc

    @property
    def has_credit(self) -> bool:
        """Whether a publication handed over now would leave at once."""
        return (
            self.is_open
            and not self.is_held
            and self._published + len(self._line) < self._credit
            and len(self._unacked) < self.limits.window
        )

    def renew(self) -> None:
        """Forget what was meant for the peer's predecessor, except publications that it cannot have taken."""
        kept = [entry for entry in self._line if entry.needs_credit]
        if self._peer_leaves:
            kept = [*(_InLine(0, payload, True) for _, payload, _, is_one in self._unacked if is_one), *kept]
        # The next control payload opens the session and goes before them: it tells the successor who wants what.
        self._line = deque(entry._replace(number=self._handed_over + 1) for entry in kept)
        self._peer_leaves = False
        self._reset_sending(self.peer_inc)
        self._credit = self._offered
        self._owes_ack = True

    def drop_publications(self) -> list[Ticket]:
        """Give up what waits for credit from a peer that is not expected back."""
        dropped = [entry.ticket for entry in self._line if entry.ticket is not None]
        self._line = deque(entry for entry in self._line if not entry.needs_credit)
        return dropped

    def leave(self) -> None:
        """Take nothing more; what was taken still goes out."""
        self._leaves = True
        self._owes_ack = True

    @property
    def has_publications(self) -> bool:
        """Whether the peer has yet to take a publication."""
        return any(entry.needs_credit for entry in self._line) or any(entry[3] for entry in self._unacked)

    def fell_silent(self) -> None:
        """Keep publications back until the peer is heard again: its successor can still be given those."""
        self.is_silent = True

    def release(self, peer_inc: int) -> None:
        """A publication accepted from that incarnation of the peer has left: grant credit for another one."""
        if peer_inc == self.peer_inc:
            self._granted += 1
            # Credit travels in batches: one frame per publication would double the traffic.
            if (self._granted - self.limits.credit) % max(1, self.limits.credit // 4) == 0:
                self._owes_ack = True

    def receive(self, frame: Frame[P], now: int) -> Received[P]:
        if frame.inc < self.peer_inc:
            return Received([], [], False)
        renewed = frame.inc > self.peer_inc
        if renewed:
            self.peer_inc = frame.inc
            self._reset_receiving()
        self.heard_at = now
        self.is_silent = False
        if frame.peer_inc != self.inc:
            self._owes_ack = True
            return Received([], [], renewed)
        if frame.leaving:
            self._hear_leaving(frame.leaving)
        accepted = self._take(frame)
        self._offered = max(self._offered, frame.credit)
        if self.is_open:
            self._credit = self._offered
            self._acknowledged(frame, now)
        return Received(accepted, [] if self._leaves else frame.loose, renewed)

    def _hear_leaving(self, leaving: int) -> None:
        if leaving & LEAVES and not self._peer_leaves:
            self._peer_leaves = True
            self._owes_ack = True
        if leaving & KNOWS:
            self.peer_knows = True

    def _take(self, frame: Frame[P]) -> list[P]:
        accepted: list[P] = []
        if not frame.payloads:
            return accepted
        self._owes_ack = True
        if self._leaves:
            return accepted
        for offset, payload in enumerate(frame.payloads):
            seq = frame.seq + offset
            if seq == self._expected:
                accepted.append(payload)
                self._expected += 1
            elif seq > self._expected and len(self._early) < self.limits.window:
                self._early[seq] = payload
        while self._early and self._expected in self._early:
            accepted.append(self._early.pop(self._expected))
            self._expected += 1
        if self._early:
            self._early = {seq: payload for seq, payload in self._early.items() if seq > self._expected}
        return accepted

    def _acknowledged(self, frame: Frame[P], now: int) -> None:
        progress = False
        while self._unacked and self._unacked[0][0] <= frame.ack:
            _, _, sent_at, _ = self._unacked.popleft()
            progress = True
            if sent_at:
                sample = now - sent_at
                self._rtt_ns = sample if not self._rtt_ns else (7 * self._rtt_ns + sample) // 8
        if progress:
            self._resends = 0
            self._resend_at = now + self._patience() if self._unacked else None
        elif frame.early and self._unacked and now >= self._fast_resend_at:
            # The peer holds later payloads: ours in between were lost. Once per round trip is enough.
            self._fast_resend_at = now + max(self._rtt_ns, 10 * MS)
            self._resend_at = now

    def _patience(self) -> int:
        limits = self.limits
        base = max(limits.resend_ns_min, 3 * self._rtt_ns)
        return min(base << min(self._resends, 4), max(limits.resend_ns_max, 3 * self._rtt_ns))

    def transmit(self, now: int, departed: list[Ticket]) -> list[Frame[P]]:
        """The frames to put on the wire now; tickets of publications that leave with them go to `departed`."""
        frames: list[Frame[P]] = []
        if self.is_open:
            if self._resend_at is not None and now >= self._resend_at:
                frames.append(self._resend(now))
            while (frame := self._fresh(now, departed)) is not None:
                frames.append(frame)
        if not frames and (self._owes_ack or self._loose or now - self._sent_at >= self.limits.heartbeat_ns):
            frames.append(self._frame(self._next_seq, []))
        if frames:
            self._sent_at = now
            self._owes_ack = False
        return frames

    def _frame(self, seq: int, payloads: list[P]) -> Frame[P]:
        loose, self._loose = self._loose, []
        leaving = LEAVES * self._leaves + KNOWS * self._peer_leaves
        return Frame(
            self.inc, self.peer_inc, self._expected - 1, self._granted, len(self._early), seq, payloads, loose, leaving
        )  # fmt: skip

    def _resend(self, now: int) -> Frame[P]:
        self._resends += 1
        self._resend_at = now + self._patience()
        first = self._unacked[0][0]
        payloads = []
        for i in range(min(self.limits.batch, len(self._unacked))):
            seq, payload, _, is_publication = self._unacked[i]
            payloads.append(payload)
            # A payload sent twice says nothing about the round trip.
            self._unacked[i] = (seq, payload, 0, is_publication)
        return self._frame(first, payloads)

    def _fresh(self, now: int, departed: list[Ticket]) -> Frame[P] | None:
        if not self._control and not self._line:
            return None
        payloads: list[P] = []
        first = self._next_seq
        room = min(self.limits.batch, self.limits.window - len(self._unacked))
        while len(payloads) < room:
            head_may_leave = self._head_may_leave()
            # Only what waits for credit is overtaken: who publishes and then withdraws is heard in that order.
            if self._control and not (head_may_leave and self._line[0].number < self._control[0][0]):
                _, payload = self._control.popleft()
                needs_credit = False
            elif head_may_leave:
                _, payload, needs_credit, ticket = self._line.popleft()
                self._published += needs_credit
                if ticket is not None:
                    departed.append(ticket)
            else:
                break
            payloads.append(payload)
            self._unacked.append((self._next_seq, payload, now, needs_credit))
            self._next_seq += 1
        if not payloads:
            return None
        if self._resend_at is None:
            self._resend_at = now + self._patience()
        return self._frame(first, payloads)

    def _head_may_leave(self) -> bool:
        if not self._line:
            return False
        is_expected = not self.is_silent and not self.is_held and not self._peer_leaves
        return not self._line[0].needs_credit or (self._published < self._credit and is_expected)

    def deadline(self) -> int:
        """When `transmit` has to be called again at the latest."""
        beat = self._sent_at + self.limits.heartbeat_ns
        return beat if self._resend_at is None else min(beat, self._resend_at)

    @property
    def wants_to_transmit(self) -> bool:
        return self._owes_ack or bool(self._loose) or bool(self._control) or bool(self._line)
