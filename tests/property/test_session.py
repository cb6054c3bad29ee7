"""Two sessions on a wire that loses, doubles and reorders, with restarts of either side, against a dumb twin."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from node.core.messages import broker_port
from node.core.session import MS, Frame, Limits, Session, Ticket

LIMITS = Limits(window=6, credit=3, batch=3)


class End:
    """One side, with what a correct link would have told it."""

    def __init__(self, inc: int, now: int) -> None:
        self.session: Session[bytes] = Session(inc, LIMITS, now)
        self.sent: list[bytes] = []
        self.on_wire: set[bytes] = set()
        self.accepted: list[bytes] = []
        self.publications_held = 0

    @property
    def inc(self) -> int:
        return self.session.inc


class Link(RuleBasedStateMachine):
    @initialize()
    def start(self) -> None:
        self.now = 10_000 * MS
        self.ends = {"a": End(1, self.now), "b": End(1, self.now)}
        self.wire: list[tuple[str, Frame[bytes]]] = []
        self.numbers = 0
        self.ever_accepted: set[bytes] = set()

    def other(self, side: str) -> str:
        return "b" if side == "a" else "a"

    sides = st.sampled_from(["a", "b"])

    @rule(side=sides, kind=st.sampled_from("pcl"))
    def send(self, side: str, kind: str) -> None:
        """A publication, control, or control that stays in line behind publications."""
        session = self.ends[side].session
        self.numbers += 1
        data = f"{kind}{self.numbers}".encode()
        if kind == "p":
            session.send_publication(data, Ticket(broker_port("x"), 1))
        elif kind == "c":
            session.send(data)
        else:
            session.send_in_line(data)
        if session.is_open or kind == "p":
            self.ends[side].sent.append(data)

    @rule(side=sides)
    def fall_silent(self, side: str) -> None:
        self.ends[side].session.fell_silent()

    @rule(side=sides, ms=st.integers(0, 700))
    def transmit(self, side: str, ms: int) -> None:
        self.now += ms * MS
        self.wire += [(self.other(side), frame) for frame in self.frames(side)]

    def frames(self, side: str) -> list[Frame[bytes]]:
        end = self.ends[side]
        frames = end.session.transmit(self.now, [])
        fresh = {data for frame in frames for data in frame.payloads} - end.on_wire
        assert not end.session.is_silent or not any(data.startswith(b"p") for data in fresh)
        end.on_wire |= fresh
        return frames

    @precondition(lambda self: self.wire)
    @rule(index=st.integers(0, 10**6), fate=st.sampled_from(["arrive", "arrive", "arrive", "double", "lose"]))
    def deliver(self, index: int, fate: str) -> None:
        index %= len(self.wire)
        target, frame = self.wire[index]
        if fate != "double":
            del self.wire[index]
        if fate != "lose":
            self.take(target, frame)

    def take(self, side: str, frame: Frame[bytes]) -> None:
        end = self.ends[side]
        received = end.session.receive(frame, self.now)
        if received.renewed:
            end.session.renew()
            # Only publications that nobody can have seen are meant for the successor too.
            end.sent = [data for data in end.sent if data.startswith(b"p") and data not in end.on_wire]
            end.accepted, end.publications_held = [], 0
        for data in received.accepted:
            assert data not in self.ever_accepted, f"{data!r} was taken twice"
            self.ever_accepted.add(data)
        end.accepted += received.accepted
        end.publications_held += sum(data.startswith(b"p") for data in received.accepted)

    @rule(side=sides)
    def consume(self, side: str) -> None:
        end = self.ends[side]
        if end.publications_held:
            end.publications_held -= 1
            end.session.release(end.session.peer_inc)

    @rule(side=sides)
    def restart(self, side: str) -> None:
        self.ends[side] = End(self.ends[side].inc + 1, self.now)

    def in_touch(self) -> bool:
        a, b = self.ends["a"].session, self.ends["b"].session
        return a.is_open and b.is_open and a.peer_inc == b.inc and b.peer_inc == a.inc

    @invariant()
    def nothing_lost_doubled_or_invented(self) -> None:
        if not self.in_touch():
            return
        for side in ("a", "b"):
            sent, accepted = self.ends[side].sent, self.ends[self.other(side)].accepted
            assert len(set(accepted)) == len(accepted)
            assert set(accepted) <= set(sent)
            for kinds in ((b"c",), (b"p", b"l")):
                told = [data for data in accepted if data.startswith(kinds)]
                assert told == [data for data in sent if data.startswith(kinds)][: len(told)]

    @invariant()
    def no_more_publications_than_granted(self) -> None:
        for end in self.ends.values():
            assert end.publications_held <= LIMITS.credit

    def teardown(self) -> None:
        """When the weather clears, everything arrives."""
        if not hasattr(self, "ends"):
            return
        self.wire.clear()
        for _ in range(200):
            self.now += 300 * MS
            for side in ("a", "b"):
                for frame in self.frames(side):
                    self.take(self.other(side), frame)
                self.consume(side)
        assert self.in_touch()
        for side in ("a", "b"):
            assert sorted(self.ends[side].sent) == sorted(self.ends[self.other(side)].accepted)
            assert self.ends[side].session.waiting == 0


TestLink = Link.TestCase
TestLink.settings = settings(max_examples=300, stateful_step_count=60)
