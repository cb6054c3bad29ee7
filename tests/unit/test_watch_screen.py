"""What `watch` draws: it fits, it shows trouble first, and it never hides how much it leaves out."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from controller.watch import interest
from controller.watch.model import ClusterView
from controller.watch.screen import Screen
from controller.watch.style import SIGNS, SIGNS_IN_ASCII
from node.shaping import Shape
from tests.unit import watched


def drawn(view: ClusterView, width: int = 80, height: int | None = 24, order: str = "interest") -> list[str]:
    return [line.plain for line in Screen(view, order, is_whole=height is None).lines(width, height, SIGNS)]


STATES = st.sampled_from(["up", "not ready", "stalled", "silent", "paused", "dead"])


@st.composite
def views(draw: st.DrawFn) -> ClusterView:
    states = draw(st.lists(STATES, min_size=1, max_size=100))
    names = [f"broker-{place}" for place in range(len(states))]
    brokers = [
        watched.broker(name, state, queue=draw(st.integers(0, 10**7))) if state == "up" else watched.broker(name, state)
        for name, state in zip(names, states, strict=True)
    ]
    links = [watched.link(a, b) for a, b in pairwise(names)]
    events = [watched.event(second) for second in range(draw(st.integers(0, 40)))]
    faults = (watched.KILL,) * draw(st.integers(0, 9))
    return watched.view(brokers, links, events=tuple(events), faults=faults)


@given(views(), st.integers(10, 250), st.integers(4, 90))
def test_it_fits_every_terminal(view: ClusterView, width: int, height: int) -> None:
    lines = Screen(view, hint="q quits").lines(width, height, SIGNS)
    assert max(line.cell_len for line in lines) <= width
    assert len(lines) <= height


@given(views(), st.integers(60, 250), st.integers(14, 90))
def test_who_is_not_shown_is_counted(view: ClusterView, width: int, height: int) -> None:
    lines = drawn(view, width, height)
    shown = sum(bool(re.match(rf"[{''.join(SIGNS.values())}]\s+broker-\d+ ", line)) for line in lines)
    left_out = [int(match[1]) for line in lines if (match := re.match(r"and (\d+) more, .*queues", line))]
    assert shown + sum(left_out) == len(view.brokers)


@given(views(), st.integers(60, 250), st.integers(14, 90))
def test_nobody_who_is_up_is_shown_before_somebody_who_is_not(view: ClusterView, width: int, height: int) -> None:
    order = [broker.state for broker in interest.brokers(view)]
    assert order == sorted(order, key=["dead", "silent", "stalled", "paused", "not ready", "up"].index)


def test_a_large_cluster_says_how_much_it_leaves_out_and_how_that_is() -> None:
    view = watched.line(64)
    brokers = (*view.brokers[:40], watched.broker("b41", queue=3), *view.brokers[41:])
    lines = drawn(structs.replace(view, brokers=brokers), 80, 24)
    assert any(line.split()[:2] == ["●", "b41"] for line in lines[:6])
    (rest,) = [line for line in lines if "queues" in line]
    assert re.fullmatch(r"and \d+ more, all up, queues empty", rest)
    assert any(re.fullmatch(r"and \d+ more, all up and untouched", line) for line in lines)


def test_trouble_that_has_no_room_is_told() -> None:
    view = watched.view([watched.broker(f"b{n}", "paused") for n in range(30)])
    assert any(re.fullmatch(r"and \d+ more, \d+ of them not up, queues empty", line) for line in drawn(view))


def test_a_whole_picture_leaves_nothing_out() -> None:
    lines = drawn(watched.line(64), 80, None)
    assert sum(line.startswith("●") for line in lines) == 64 + 63
    assert not any("more" in line for line in lines)


def test_states_links_faults_and_events_are_told() -> None:
    slow = Shape(delay_ms=20, jitter_ms=5, loss=0.02)
    view = watched.view(
        [
            watched.broker("b1", "not ready", waiting_for=("b2", "b3", "b4", "b5")),
            watched.broker("b2", "dead", faults=("kill",)),
            watched.broker("b3", inc=4, queue=12_345),
        ],
        [
            watched.link("b1", "b2", "dead end", why="b2 is dead", back=None),
            watched.link("b1", "b3", forth=slow, back=slow, is_changed=True, faults=("delay", "loss")),
            watched.link("b2", "b3", forth=slow, is_changed=True),
        ],
        faults=(watched.KILL,),
        events=(watched.event(1), structs.replace(watched.event(2, text="refused s1: no"), event="refuse", times=7)),
        phase="load",
        published=10_000,
        delivered=2_345_678,
    )
    text = "\n".join(drawn(view, 200, 40))
    for part in (
        "lab · simple on line-3 · process · up 3 min 20 s · phase load",
        "3 brokers: 1 not ready, 1 dead, 1 up",
        "10.0k published, 2.3M delivered",
        "1 fault on: kill b2",
        "waits for b2, b3, b4 and 1 more"[:25],
        "12.3k",
        "b2 is dead",
        "20+5 ms, loss 2 %",
        "delay, loss",
        "→ 20+5 ms, loss 2 %",
        "refused s1: no × 7",
    ):
        assert part in text, part
    rows = text.splitlines()
    assert [row.split()[1] for row in rows if row[:1] in "✕○●" and row.strip()][:3] == ["b2", "b1", "b3"]


def test_the_newest_event_comes_first() -> None:
    view = watched.line(3, events=tuple(watched.event(n, text=f"link to b{n} down: silence") for n in range(30)))
    told = [line for line in drawn(view) if "silence" in line]
    assert "b29" in told[0] and "b28" in told[1]


def test_without_unicode_nothing_strange_is_drawn() -> None:
    view = watched.view(
        [watched.broker("b1", queue=9), watched.broker("b2", "dead")], [watched.link("b1", "b2", "cut")]
    )
    text = "\n".join(line.plain for line in Screen(view).lines(79, 24, SIGNS_IN_ASCII))
    assert text.replace("·", "").isascii()


@pytest.mark.parametrize(
    ("order", "first"), [("queue", "b2"), ("rate", "b3"), ("table", "b1"), ("topology", "b1"), ("unacked", "b3")]
)
def test_orders(order: str, first: str) -> None:
    view = watched.view(
        [
            watched.broker("b1", table=9),
            watched.broker("b2", queue=5),
            watched.broker("b3", rate_hz=99.0, unacked=4),
        ]
    )
    assert interest.brokers(view, order)[0].name == first


def test_numbers_that_flicker_do_not_shuffle_the_rows() -> None:
    steady = [watched.broker("b1", rate_hz=40.0, queue=5), watched.broker("b2", rate_hz=60.0, queue=4)]
    swapped = [watched.broker("b1", rate_hz=60.0, queue=4), watched.broker("b2", rate_hz=40.0, queue=5)]
    orders = [[one.name for one in interest.brokers(watched.view(brokers))] for brokers in (steady, swapped)]
    assert orders[0] == orders[1]


@given(st.integers(0, 60), st.lists(st.integers(0, 40), min_size=3, max_size=3))
def test_shares_fill_the_room_and_no_more(room: int, wants: list[int]) -> None:
    given_lines = interest.shares(room, wants, (8, 3, 3))
    assert sum(given_lines) == min(room, sum(wants))
    assert all(0 <= got <= want for got, want in zip(given_lines, wants, strict=True))
