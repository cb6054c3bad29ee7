from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.audit.values import attributes, encode

integers = st.integers(-(2**63), 2**63 - 1)
floats = st.floats(allow_nan=False, allow_infinity=False)
# Neighbours of what a double can hold are where comparing as doubles goes wrong.
near = st.builds(lambda base, by: max(-(2**63), min(2**63 - 1, int(base) + by)),
                 st.floats(-9e18, 9e18), st.integers(-3, 3))  # fmt: skip
numbers = st.one_of(integers, floats, near, near.map(float))


@given(numbers, numbers)
def test_numbers_compare_by_exact_value(a: int | float, b: int | float) -> None:
    x, y = encode(a), encode(b)
    assert (x < y) == (Fraction(a) < Fraction(b))
    assert (x == y) == (Fraction(a) == Fraction(b))


def test_kinds_are_never_equal() -> None:
    assert len({encode(True), encode(1), encode("1"), encode("true")}) == 4


def test_zero_has_no_sign() -> None:
    assert encode(-0.0) == encode(0.0) == encode(0)
    assert str(encode(-0.0).double) == "0.0"


@pytest.mark.parametrize(
    "content", [b"[]", b'{"x": null}', b'{"x": {}}', b'{"x": 1e400}', b'{"x": 18446744073709551616}',
                b'{"x": "\\ud800"}', b'"text"', b"\xff"]
)  # fmt: skip
def test_what_is_no_content_is_refused(content: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        attributes(content)


def test_integers_stay_exact_in_contents() -> None:
    assert attributes(b'{"x": 9007199254740993}') == [("x", encode(9007199254740993))]
    assert attributes(b"{}") == []
