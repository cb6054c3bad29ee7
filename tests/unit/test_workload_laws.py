from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.errors import UsageError
from controller.workloads.laws import Gaussian, Law, Pareto, Uniform, Zipf, distinct, spread

laws: st.SearchStrategy[Law] = st.one_of(
    st.sampled_from(["uniform", "zipf", "pareto", "gaussian"]),
    st.just(Uniform()),
    st.builds(Zipf, theta=st.sampled_from([0, 0.5, 3])),
    st.builds(Pareto, alpha=st.sampled_from([0.1, 1, 15])),
    st.builds(Gaussian, deviation=st.sampled_from([0.001, 0.3, 8])),
)


@given(laws, st.integers(1, 300), st.integers(0, 99))
def test_draws_stay_below_the_count_and_shares_are_all_of_them(law: Law, count: int, seed: int) -> None:
    over = spread(law, count)
    random = Random(seed)
    assert all(0 <= over.draw(random) < count for _ in range(50))
    shares = [over.share(number, number + 1) for number in range(count)]
    assert min(shares) >= 0
    assert sum(shares) == pytest.approx(over.share(-5, count + 5)) == pytest.approx(1)


@given(laws, st.sampled_from([1, 7, 200]), st.sampled_from([(0, 0.2), (0.2, 0.6), (0.5, 1)]))
def test_as_many_draws_come_as_the_share_says(law: Law, count: int, part: tuple[float, float]) -> None:
    over, random = spread(law, count), Random(1)
    low, high = (end * count for end in part)
    drawn = [over.draw(random) for _ in range(2000)]
    assert over.share(low, high) == pytest.approx(sum(low <= one < high for one in drawn) / 2000, abs=0.05)


def test_the_first_come_more_often_by_zipf_and_pareto_and_those_in_the_middle_by_gauss() -> None:
    zipf, pareto, bell = (spread(law, 100) for law in ("zipf", "pareto", "gaussian"))
    assert zipf.share(0, 1) == pytest.approx(2 * zipf.share(1, 2))
    assert pareto.share(0, 1) > 0.5
    assert bell.share(50, 51) > 5 * bell.share(20, 21) and bell.share(0, 50) == pytest.approx(0.5)


@given(laws, st.integers(1, 40), st.integers(0, 50))
def test_different_ones_are_different_and_as_many_as_there_are(law: Law, count: int, wanted: int) -> None:
    found = distinct(spread(law, count), wanted, Random(2))
    assert len(found) == len(set(found)) == min(wanted, count)


def test_zipf_has_its_limit() -> None:
    with pytest.raises(UsageError, match="zipf is for 200000 numbers at most, not 200001; use pareto"):
        spread("zipf", 200_001)
