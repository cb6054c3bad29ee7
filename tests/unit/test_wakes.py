from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from node.core.messages import Port, broker_port
from node.core.wakes import SLOT_NS, Wakes

PORTS = [broker_port(name) for name in ("b1", "b2", "b3")]
SLOT = SLOT_NS


def test_what_is_due_in_a_slot_is_taken_together_at_its_end() -> None:
    wakes = Wakes()
    wakes.plan(PORTS[0], 3 * SLOT + 1, now=0)
    wakes.plan(PORTS[1], 4 * SLOT, now=0)
    assert wakes.deadline() == 4 * SLOT
    assert wakes.take(4 * SLOT - 1) == []
    assert wakes.take(4 * SLOT) == PORTS[:2]
    assert wakes.deadline() is None


def test_what_is_overdue_waits_for_the_next_slot_so_that_nobody_spins() -> None:
    wakes = Wakes()
    wakes.plan(PORTS[0], 0, now=7 * SLOT)
    assert wakes.deadline() == 8 * SLOT


STEPS = st.lists(st.tuples(st.integers(0, 3 * SLOT), st.sampled_from(PORTS), st.integers(0, 20 * SLOT)), max_size=60)


@given(STEPS)
def test_nobody_is_woken_before_a_planned_time_or_more_than_a_slot_late(steps: list[tuple[int, Port, int]]) -> None:
    """The dumb twin looks at everybody all the time."""
    wakes, now = Wakes(), 0
    earliest: dict[Port, int] = {}
    for pause, port, due in steps:
        now += pause
        taken = wakes.take(now)
        assert len(taken) == len(set(taken))
        for woken in taken:
            assert earliest.pop(woken) <= now
        assert [p for p, planned in earliest.items() if planned + SLOT <= now] == []
        wakes.plan(port, due, now)
        earliest[port] = min(max(due, now + 1), earliest.get(port, due + now + 1))
