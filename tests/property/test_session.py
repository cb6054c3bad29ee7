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

    def other(self, side: str) -> str:
        return "b" if side == "a" else "a"

    sides = st.sampled_from(["a", "b"])

    @rule(side=sides, publication=st.booleans())
    def send(self, side: str, publication: bool) -> None:
        end = self.ends[side]
        self.numbers += 1
        data = f"{'p' if publication else 'c'}{self.numbers}".encode()
        if publication:
            end.session.send_publication(data, Ticket(broker_port("x"), 1))
        else:
            end.session.send(data)
        if end.session.is_open:
            end.sent.append(data)

    @rule(side=sides, ms=st.integers(0, 700))
    def transmit(self, side: str, ms: int) -> None:
        self.now += ms * MS
        for frame in self.ends[side].session.transmit(self.now, []):
            self.wire.append((self.other(side), frame))

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
            end.sent, end.accepted, end.publications_held = [], [], 0
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
            for kind in (b"c", b"p"):
                told = [data for data in accepted if data.startswith(kind)]
                assert told == [data for data in sent if data.startswith(kind)][: len(told)]

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
                for frame in self.ends[side].session.transmit(self.now, []):
                    self.take(self.other(side), frame)
                self.consume(side)
        assert self.in_touch()
        for side in ("a", "b"):
            assert sorted(self.ends[side].sent) == sorted(self.ends[self.other(side)].accepted)
            assert self.ends[side].session.waiting == 0


TestLink = Link.TestCase
TestLink.settings = settings(max_examples=300, stateful_step_count=60)
