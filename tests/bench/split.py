"""Where a publication's time in the core goes: each part driven alone; the rest is what the whole takes beyond them."""

from __future__ import annotations

import time
from collections.abc import Callable
from random import Random

from node.core.filters import check_content
from node.core.messages import Publication, Publish, Subscribe, client_port
from node.core.schemes.base import Heard, Site
from node.core.schemes.registry import build
from node.core.session import Frame, Limits, Session, Ticket
from node.wire import WireCodec, decode_frame, encode_frame
from tests.bench.core import BROKER, Between, codec_alone, on_the_clock
from tests.bench.measure import Effort, Figure, Say, Section, per_second, race
from tests.bench.ways import MESSAGE_BYTES, content_of

PUBLICATION = Publication("pub:100", "pub", 100, "attr", content_of(MESSAGE_BYTES))
WHOLE = "altogether"


def measure(effort: Effort, say: Say) -> Section:
    best = race(
        {
            WHOLE: on_the_clock(Between(), effort.run_s),
            "sessions: number, acknowledge, credit": on_the_clock(Sessions(), effort.run_s),
            "payload codec": per_second(codec_alone(), effort.run_s),
            "frame codec": per_second(frames_alone(), effort.run_s),
            "scheme: route, with one filter in its table": per_second(scheme_alone(), effort.run_s),
            "check of the content": per_second(check_alone, effort.run_s),
        },
        effort,
    )
    spent_ns = {part: 1e9 / rate for part, rate in best.items()}
    whole_ns = spent_ns.pop(WHOLE)
    # The client's own filters are tested once more before the last hop; the scheme's route has tested one already.
    spent_ns["the rest: last exact test, tickets, what the log is told"] = max(0.0, whole_ns - sum(spent_ns.values()))
    parts = sorted(spent_ns.items(), key=lambda part: -part[1])
    return Section(
        "Core, split: nanoseconds for a publication, each part driven alone",
        [Figure(WHOLE, whole_ns, "ns"), *(Figure(part, part_ns, "ns", whole_ns) for part, part_ns in parts)],
    )


class Sessions:
    """The four ends of the two links of a broker, with nothing but bytes in between."""

    def __init__(self) -> None:
        now = time.monotonic_ns()
        self._from_pub, self._to_sub, self._pub, self._sub = (
            Session[bytes](1, Limits(), now) for _ in range(4)
        )  # fmt: skip
        self._data = WireCodec().encode(Publish(PUBLICATION))
        for one, other in ((self._pub, self._from_pub), (self._to_sub, self._sub)):
            while not one.has_credit or not other.is_open:
                _introduce(one, other, now)

    def publish(self) -> tuple[int, int]:
        """As `Between.publish`: only the broker's two ends are on the clock."""
        count = 0
        while self._pub.has_credit:
            self._pub.send_publication(self._data)
            count += 1
        spent_ns = 0
        while self._pub.waiting or self._to_sub.waiting or not self._pub.has_credit:
            spent_ns += self._exchange()
        return count, spent_ns

    def _exchange(self) -> int:
        now = time.monotonic_ns()
        published, acknowledged = self._pub.transmit(now, []), self._sub.transmit(now, [])
        started_at = time.thread_time_ns()
        leaving, answers = self._relay(published, acknowledged, now)
        spent_ns = time.thread_time_ns() - started_at
        for frame in leaving:
            for _ in self._sub.receive(frame, now).accepted:
                self._sub.release(1)
        for frame in answers:
            self._pub.receive(frame, now)
        return spent_ns

    def _relay(
        self, published: list[Frame[bytes]], acknowledged: list[Frame[bytes]], now: int
    ) -> tuple[list[Frame[bytes]], list[Frame[bytes]]]:
        for frame in published:
            for data in self._from_pub.receive(frame, now).accepted:
                self._to_sub.send_publication(data, Ticket(client_port("pub"), 1))
        for frame in acknowledged:
            self._to_sub.receive(frame, now)
        departed: list[Ticket] = []
        leaving = self._to_sub.transmit(now, departed)
        for ticket in departed:
            self._from_pub.release(ticket.peer_inc)
        return leaving, self._from_pub.transmit(now, [])


def _introduce(one: Session[bytes], other: Session[bytes], now: int) -> None:
    for sender, receiver in ((one, other), (other, one)):
        for frame in sender.transmit(now + 10**9, []):
            if receiver.receive(frame, now).renewed:
                receiver.renew()


def frames_alone() -> Callable[[], int]:
    limits = Limits()
    data = WireCodec().encode(Publish(PUBLICATION))
    wire = encode_frame(Frame(1, 1, 1, 1, 0, 1, [data] * limits.batch, []))

    def work() -> int:
        encode_frame(decode_frame(wire))
        return limits.batch

    return work


def scheme_alone() -> Callable[[], int]:
    scheme = build("simple", Site(BROKER, (), Random(1), brokers=(BROKER,)), {})
    publisher, subscriber = client_port("pub"), client_port("sub")
    assert not list(scheme.apply(Heard(subscriber, Subscribe("s1", "price > 0", "attr"))))

    def work() -> int:
        for _ in range(100):
            scheme.route(publisher, PUBLICATION, None)
        return 100

    return work


def check_alone() -> int:
    for _ in range(100):
        check_content(PUBLICATION.content, PUBLICATION.lang)
    return 100
