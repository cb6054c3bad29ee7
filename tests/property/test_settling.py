"""The diffusing computation against a dumb twin that sees the whole network."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from node.core.messages import Advertise, Subscribe, broker_port
from node.core.settling import Settling

UP, DOWN, SIDE = broker_port("up"), broker_port("down"), broker_port("side")


def subscribe(sub: str) -> Subscribe:
    return Subscribe(sub, "*", "attr")


class Tree:
    """One broker's view: requests from UP, each of which sends some messages to DOWN and SIDE."""

    def __init__(self) -> None:
        self.settling = Settling()
        self.mid = 0
        self.open: dict[int, set[tuple[str, int]]] = {}

    def request(self, request: int, down: int, side: int) -> list[int]:
        cause = [self.settling.begin((UP, request))]
        self.open[request] = set()
        for port, number in ((DOWN, down), (SIDE, side)):
            for _ in range(number):
                self.mid += 1
                self.settling.sent(cause, port, self.mid, subscribe(f"s{self.mid}"))
                self.open[request].add((port.name, self.mid))
        return [mid for _, mid in self.settling.end(cause)]


@given(requests=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=6), order=st.randoms())
def test_a_request_is_settled_exactly_when_all_it_caused_is(requests: list[tuple[int, int]], order) -> None:  # type: ignore[no-untyped-def]
    tree = Tree()
    told: list[int] = []
    for number, (down, side) in enumerate(requests):
        told += tree.request(number, down, side)
    assert told == [n for n in range(len(requests)) if not tree.open[n]]
    waiting = [(name, mid, n) for n, mids in tree.open.items() for name, mid in mids]
    order.shuffle(waiting)
    for name, mid, number in waiting:
        tree.open[number].discard((name, mid))
        mails = tree.settling.settled(broker_port(name), mid)
        assert mails == ([] if tree.open[number] else [(UP, number)])
        assert tree.settling.settled(broker_port(name), mid) == []
    assert tree.settling.unsettled == 0


def test_what_is_covered_waits_for_a_coverer_that_is_under_way() -> None:
    settling = Settling()
    wide = [settling.begin((UP, 1))]
    settling.sent(wide, DOWN, 10, subscribe("wide"))
    assert settling.end(wide) == []
    narrow = [settling.begin((UP, 2))]
    settling.after(narrow, DOWN, ("wide",))
    assert settling.end(narrow) == []
    assert settling.settled(DOWN, 10) == [(UP, 1), (UP, 2)]


def test_one_coverer_in_place_is_enough() -> None:
    settling = Settling()
    wide = [settling.begin((UP, 1))]
    settling.sent(wide, DOWN, 10, subscribe("wide"))
    settling.end(wide)
    narrow = [settling.begin((UP, 2))]
    settling.after(narrow, DOWN, ("wide", "confirmed long ago"))
    assert settling.end(narrow) == [(UP, 2)]


def test_what_waited_for_a_dead_peer_waits_for_its_successor() -> None:
    settling = Settling()
    request = [settling.begin((UP, 1))]
    settling.sent(request, DOWN, 10, subscribe("s"))
    settling.end(request)
    again = [settling.begin(None, rank_max=0), settling.begin(None)]
    settling.replace(DOWN, again)
    settling.sent(again, DOWN, 11, subscribe("s"))
    assert settling.end(again) == []
    assert settling.settled(DOWN, 10) == []
    assert settling.settled(DOWN, 11) == [(UP, 1)]


def test_nothing_is_told_to_a_peer_that_died() -> None:
    settling = Settling()
    request = [settling.begin((UP, 1))]
    settling.sent(request, DOWN, 10, subscribe("s"))
    settling.end(request)
    nobody = [settling.begin(None)]
    settling.replace(UP, nobody)
    assert settling.end(nobody) == []
    assert settling.settled(DOWN, 10) == []


def test_a_subscription_never_waits_for_an_advertisement() -> None:
    settling = Settling()
    request = [settling.begin((UP, 1))]
    settling.sent(request, DOWN, 10, subscribe("s"))
    settling.end(request)
    again = [settling.begin(None, rank_max=0), settling.begin(None)]
    settling.replace(DOWN, again)
    settling.sent(again, DOWN, 11, Advertise("a", "*", "attr", "c"))
    settling.sent(again, DOWN, 12, subscribe("s"))
    settling.end(again)
    assert settling.settled(DOWN, 12) == [(UP, 1)]


def test_what_may_have_to_go_further_is_held_until_that_is_known() -> None:
    settling = Settling()
    asked = [settling.begin((UP, 1))]
    settling.hold(asked, UP)
    assert settling.end(asked) == []
    # Meanwhile it went onwards because of something else, as did an answer to where it came from.
    other = [settling.begin(None)]
    settling.sent(other, DOWN, 10, subscribe("s"))
    settling.sent(other, UP, 11, subscribe("t"))
    settling.sent(other, SIDE, 12, Advertise("a", "*", "attr", "p"))
    assert settling.end(other) == []
    assert settling.release(UP) == []
    assert settling.settled(DOWN, 10) == [(UP, 1)]
    assert settling.holding == []
