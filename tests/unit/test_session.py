"""What each sentence about incarnations and credit means, one by one."""

from __future__ import annotations

from itertools import pairwise

from node.core.session import MS, Frame, Limits, Session

NOW = 10_000 * MS
LIMITS = Limits()


def meet(a: Session[bytes], b: Session[bytes], now: int = NOW) -> None:
    """Exchange frames until both know each other."""
    for _ in range(3):
        for one, other in ((a, b), (b, a)):
            for frame in one.transmit(now, []):
                if other.receive(frame, now).renewed:
                    other.renew()


def pair(limits: Limits = LIMITS) -> tuple[Session[bytes], Session[bytes]]:
    a: Session[bytes] = Session(1, limits, NOW)
    b: Session[bytes] = Session(1, limits, NOW)
    meet(a, b)
    assert a.is_open
    assert b.is_open
    return a, b


def data_frames(session: Session[bytes], now: int = NOW) -> list[Frame[bytes]]:
    return [frame for frame in session.transmit(now, []) if frame.payloads]


def test_a_frame_of_a_dead_incarnation_is_not_taken() -> None:
    a, b = pair()
    a.send(b"from the dead")
    (stale,) = data_frames(a)
    successor: Session[bytes] = Session(2, Limits(), NOW)
    meet(successor, b)
    assert b.receive(stale, NOW).accepted == []
    assert b.peer_inc == 2


def test_a_frame_meant_for_a_dead_incarnation_is_not_taken_by_its_successor() -> None:
    a, _ = pair()
    a.send(b"for the dead")
    (late,) = data_frames(a)
    successor: Session[bytes] = Session(2, Limits(), NOW)
    assert successor.receive(late, NOW).accepted == []


def test_what_the_dead_did_not_acknowledge_is_not_sent_to_its_successor() -> None:
    a, _ = pair()
    a.send(b"one")
    a.send_publication(b"two")
    data_frames(a)
    successor: Session[bytes] = Session(2, Limits(), NOW)
    meet(a, successor, NOW + 60_000 * MS)
    assert a.waiting == 0
    assert data_frames(a, NOW + 120_000 * MS) == []


def test_publications_stop_at_the_credit_and_control_overtakes_them() -> None:
    a, b = pair(Limits(credit=2))
    for number in range(4):
        a.send_publication(b"p%d" % number)
    a.send(b"c")
    assert [frame.payloads for frame in data_frames(a)] == [[b"p0", b"p1", b"c"]]
    assert not a.has_credit
    b.receive(Frame(1, 1, 0, 2, 0, 1, [b"p0"], []), NOW)
    b.release(1)
    (answer,) = b.transmit(NOW, [])
    a.receive(answer, NOW)
    assert [frame.payloads for frame in data_frames(a)] == [[b"p2"]]


def test_credit_of_a_dead_peers_publications_is_not_given_to_its_successor() -> None:
    _, b = pair(Limits(credit=2))
    successor: Session[bytes] = Session(2, Limits(credit=2), NOW)
    meet(successor, b)
    b.release(1)
    (frame,) = b.transmit(NOW + 1_000 * MS, [])
    assert frame.credit == 2


def test_unacknowledged_payloads_are_sent_again_with_growing_patience() -> None:
    a, _ = pair()
    a.send(b"x")
    data_frames(a)
    times = [ms for ms in range(0, 3_000, 50) if data_frames(a, NOW + ms * MS)]
    gaps = [after - before for before, after in pairwise(times)]
    assert len(times) >= 2
    assert gaps == sorted(gaps)


def test_an_idle_session_beats() -> None:
    a, _ = pair()
    assert a.transmit(NOW + 1 * MS, []) == []
    (beat,) = a.transmit(NOW + 600 * MS, [])
    assert beat.payloads == []
