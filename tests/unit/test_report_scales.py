"""Axes: ticks are round, inside, in order, and never too many; places keep the order of values."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.audit.report.scales import Linear, TimeAxis, counts_scale, durations_scale, round_steps
from controller.text import clean, duration, natural, offset, volume

S = 1_000_000_000
positive = st.floats(min_value=1, max_value=1e13)


def _is_round(value: float) -> bool:
    mantissa = value / 10.0 ** math.floor(math.log10(value) + 1e-9)
    return any(math.isclose(mantissa, good, rel_tol=1e-6) for good in (1, 2, 3, 5, 10))


@given(st.lists(positive, min_size=1, max_size=30))
def test_a_duration_axis_holds_every_value_and_its_ticks_are_round(values: list[float]) -> None:
    scale = durations_scale(values)
    assert scale.low <= min(values) * 1.000001 and scale.high >= max(values) * 0.999999
    ticks = scale.ticks()
    assert 2 <= len(ticks) <= 15
    assert ticks == sorted(ticks)
    assert all(_is_round(tick) for tick in ticks)


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=30))
def test_a_count_axis_starts_at_zero_and_holds_every_value(values: list[int]) -> None:
    scale = counts_scale([float(value) for value in values])
    assert scale.low == 0 and scale.high >= max(values)
    assert 2 <= len(scale.ticks()) <= 7


@given(st.floats(-1e9, 1e9), st.floats(1e-3, 1e9), st.integers(2, 12))
def test_round_steps_lie_inside_at_equal_distances(low: float, span: float, about: int) -> None:
    steps = round_steps(low, low + span, about)
    assert len(steps) <= about + 2
    assert all(low - span * 1e-6 <= step <= low + span * (1 + 1e-6) for step in steps)


@given(st.lists(positive, min_size=2, max_size=20, unique=True))
def test_places_keep_the_order_of_values(values: list[float]) -> None:
    ordered = sorted(values)
    for scale in (durations_scale(values), Linear(0, max(values))):
        places = [scale.place(value) for value in ordered]
        assert places == sorted(places)
        assert places[0] >= 0 and places[-1] <= 1


@given(st.integers(1, 10**15))
def test_time_ticks_lie_within_the_run(span_ns: int) -> None:
    ticks = TimeAxis(7, 7 + span_ns).ticks()
    assert ticks[0][0] == 0
    assert all(0 <= place <= 1.000001 for place, _ in ticks)
    assert len({text for _, text in ticks}) == len(ticks) <= 13


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (0, "0 ms"), (850, "850 ns"), (1_500, "1.5 µs"), (999_999, "1 ms"), (2_600_000, "2.6 ms"),
        (1_420_000_000, "1.42 s"), (90 * S, "90 s"), (120 * S, "2 min"), (135 * S, "2 min 15 s"),
        (7260 * S, "2 h 1 min"), (-5_000_000, "−5 ms"),
    ],
)  # fmt: skip
def test_durations_are_written_in_the_unit_that_suits(ns: int, text: str) -> None:
    assert duration(ns) == text


def test_other_numbers_as_people_read_them() -> None:
    assert volume(1_234_567) == "1.23 MB"
    assert offset(61 * S) == "61.00 s"
    assert offset(725 * S) == "12:05.0 min"
    assert sorted(["b10", "b2", "a"], key=natural) == ["a", "b2", "b10"]


@given(st.text(alphabet=st.characters(), max_size=600))
def test_cleaned_text_can_always_be_written_and_hides_nothing(text: str) -> None:
    cleaned = clean(text)
    assert len(cleaned) <= 400
    cleaned.encode("utf-8")
    assert not any(character in cleaned for character in "\x00\x1b\u202e\u2066\u200b\n")
    assert clean(cleaned) == cleaned
