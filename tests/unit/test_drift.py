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
