from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from node.drift import Drift

nanoseconds = st.integers(0, 10**15)


@given(st.floats(0.1, 10), nanoseconds, nanoseconds, nanoseconds)
def test_at_the_time_that_was_told_it_is_due(rate: float, ahead_ns: int, now: int, in_ns: int) -> None:
    """Else a simulated broker is woken at one and the same moment without end."""
    drift = Drift()
    drift.change(rate, ahead_ns, now)
    due = drift.at(now) + in_ns
    assert drift.at(drift.until(due)) >= due


def test_untouched_it_is_the_machines_clock() -> None:
    drift = Drift()
    assert (drift.at(7), drift.until(9)) == (7, 9)


def test_it_runs_at_its_rate_from_where_it_is() -> None:
    drift = Drift()
    drift.change(3, 0, 100)
    assert [drift.at(100), drift.at(110)] == [100, 130]
    drift.change(0.5, 0, 110)
    assert [drift.at(110), drift.at(120)] == [130, 135]


def test_it_jumps_ahead_and_healed_goes_on_from_there() -> None:
    """It must not stand still until the others have caught up: a broker whose clock stands still is as good as dead."""
    drift = Drift()
    drift.change(1, 1_000, 10)
    assert drift.at(10) == 1_010
    drift.change(1, 0, 20)
    assert [drift.at(20), drift.at(30)] == [1_020, 1_030]


changes = st.lists(st.tuples(st.integers(1, 50), st.sampled_from([0.05, 0.5, 1, 3, 20]), st.integers(0, 9_000)))


@given(changes)
def test_it_never_goes_back(story: list[tuple[int, float, int]]) -> None:
    drift, now, shown = Drift(), 0, 0
    for passed, rate, ahead in story:
        now += passed
        assert drift.at(now) >= shown
        drift.change(rate, ahead, now)
        shown = drift.at(now)
