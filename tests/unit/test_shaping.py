from __future__ import annotations

from itertools import pairwise
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from node.shaping import FRAMES_HELD_MAX, MS, Line, Shape, Shaping


def shaped(shapes: dict[str, Shape]) -> Shaping:
    return Shaping(shapes, Random(1))


def due(shaping: Shaping, now_ms: float) -> list[tuple[str, bytes]]:
    return [(peer, parts[0]) for peer, parts in shaping.due(round(now_ms * MS))]


def test_without_a_shape_frames_pass_at_once() -> None:
    shaping = shaped({"b2": Shape()})
    shaping.offer("b2", [b"a"], 0)
    assert shaping.deadline() == 0
    assert due(shaping, 0) == [("b2", b"a")]
    assert shaping.deadline() is None


def test_a_delay_holds_frames_back_in_order() -> None:
    shaping = shaped({"b2": Shape(delay_ms=10), "b3": Shape()})
    shaping.offer("b2", [b"a"], 0)
    shaping.offer("b2", [b"b"], 1 * MS)
    shaping.offer("b3", [b"c"], 1 * MS)
    assert due(shaping, 9) == [("b3", b"c")]
    assert shaping.deadline() == 10 * MS
    assert due(shaping, 10) == [("b2", b"a")]
    assert due(shaping, 20) == [("b2", b"b")]


def test_a_delay_that_is_lowered_lets_nothing_overtake() -> None:
    shaping = shaped({"b2": Shape(delay_ms=100)})
    shaping.offer("b2", [b"a"], 0)
    shaping.change("b2", Shape(delay_ms=0))
    shaping.offer("b2", [b"b"], 1 * MS)
    assert due(shaping, 50) == []
    assert due(shaping, 100) == [("b2", b"a"), ("b2", b"b")]


def test_a_cut_drops_what_is_sent_what_is_under_way_and_what_arrives() -> None:
    shaping = shaped({"b2": Shape(delay_ms=10)})
    shaping.offer("b2", [b"under way"], 0)
    shaping.change("b2", Shape(delay_ms=10, cut=True, deaf=True))
    shaping.offer("b2", [b"sent"], 1 * MS)
    assert not shaping.admits("b2")
    assert due(shaping, 100) == []
    shaping.change("b2", Shape(delay_ms=10))
    assert shaping.admits("b2")
    shaping.offer("b2", [b"after"], 100 * MS)
    assert due(shaping, 110) == [("b2", b"after")]


def test_what_is_held_is_bounded() -> None:
    shaping = shaped({"b2": Shape(delay_ms=1_000)})
    for _ in range(FRAMES_HELD_MAX + 5):
        shaping.offer("b2", [b""], 0)
    assert len(due(shaping, 1_000)) == FRAMES_HELD_MAX
    shaping.offer("b2", [b"again"], 1_000 * MS)
    assert due(shaping, 2_000) == [("b2", b"again")]


STEPS = st.lists(st.tuples(st.integers(0, 50), st.sampled_from(["send", "delay"]), st.integers(0, 100)), max_size=40)


@given(STEPS)
def test_whatever_the_delays_frames_keep_their_order_and_none_is_early(steps: list[tuple[int, str, int]]) -> None:
    shaping = shaped({"b2": Shape()})
    now, delay, sent = 0, 0, []
    for pause, what, value in steps:
        now += pause
        if what == "delay":
            delay = value
            shaping.change("b2", Shape(delay_ms=value))
        else:
            sent.append(now + delay)
            shaping.offer("b2", [bytes([len(sent)])], now * MS)
    arrivals = []
    while (deadline := shaping.deadline()) is not None:
        assert due(shaping, deadline / MS - 0.001) == []
        arrivals += [(parts[0][0], deadline / MS) for _, parts in shaping.due(deadline)]
    # The dumb twin: a frame arrives after its delay, and not before the ones sent earlier.
    assert arrivals == [(i + 1, max(sent[: i + 1])) for i in range(len(sent))]


def arrivals(shape: Shape, sizes: list[int], every_ms: float = 1, seed: int = 1) -> list[float | None]:
    """When frames sent one after the other arrive, in milliseconds; None for one that is lost."""
    line = Line(shape, Random(seed))
    found = [line.due(size, round(number * every_ms * MS)) for number, size in enumerate(sizes)]
    return [due[0] / MS if due else None for due in found]


def test_a_rate_lets_one_frame_pass_after_the_other() -> None:
    # 8 kbit/s is a byte a millisecond.
    assert arrivals(Shape(rate_kbps=8), [10, 10, 5], every_ms=2) == [10, 20, 25]
    assert arrivals(Shape(rate_kbps=8, delay_ms=100), [10, 10], every_ms=50) == [110, 160]


def test_loss_drops_the_share_it_says_by_the_chance_it_is_given() -> None:
    found = arrivals(Shape(loss=0.25), [1] * 4_000)
    assert 800 < found.count(None) < 1_200
    assert found == arrivals(Shape(loss=0.25), [1] * 4_000)
    assert found != arrivals(Shape(loss=0.25), [1] * 4_000, seed=2)
    assert None not in arrivals(Shape(), [1] * 100)


@given(st.floats(0, 50), st.floats(0, 50), st.integers(0, 9))
def test_jitter_adds_up_to_what_it_says_and_lets_nothing_overtake(delay_ms: float, jitter_ms: float, seed: int) -> None:
    found = arrivals(Shape(delay_ms=delay_ms, jitter_ms=jitter_ms), [1] * 50, seed=seed)
    for sent, due in enumerate(found):
        assert due is not None and due >= sent + delay_ms - 0.001
    # The dumb twin: the slowest so far holds up the ones behind it, and nobody is slower than the jitter allows.
    assert all(due <= sent + delay_ms + jitter_ms + 0.001 for sent, due in enumerate(found) if due is not None)
    assert found == sorted(due for due in found if due is not None)


def test_a_cut_one_way_is_heard_the_other_way() -> None:
    shaping = shaped({"b2": Shape(cut=True), "b3": Shape(deaf=True)})
    shaping.offer("b2", [b"a"], 0)
    shaping.offer("b3", [b"b"], 0)
    assert due(shaping, 0) == [("b3", b"b")]
    assert shaping.admits("b2")
    assert not shaping.admits("b3")


def test_a_share_of_the_frames_comes_twice() -> None:
    line = Line(Shape(delay_ms=3, duplicate=0.25), Random(1))
    found = [line.due(1, 0) for _ in range(4_000)]
    assert set(found) == {(3 * MS,), (3 * MS, 3 * MS)}
    assert 800 < sum(len(times) == 2 for times in found) < 1_200


def test_a_share_of_the_frames_is_overtaken_and_none_is_lost() -> None:
    found = arrivals(Shape(delay_ms=3, reorder=0.25), [1] * 4_000)
    overtaken = sum(due > later for due, later in pairwise(found) if due and later)
    assert 500 < overtaken < 1_200
    assert None not in found
    assert all(sent + 3 <= due for sent, due in enumerate(found) if due is not None)


def test_a_flapping_link_passes_and_drops_by_turns() -> None:
    line = Line(Shape(flap_up_ms=30, flap_down_ms=20), Random(1))
    assert [bool(line.due(1, now * MS)) for now in range(0, 100, 10)] == [*[True] * 3, *[False] * 2] * 2
    line.change(Shape())
    assert line.due(1, 41 * MS)
