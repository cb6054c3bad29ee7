from __future__ import annotations

import pytest

from controller.audit.filtertext import Constraint, FilterError, parse
from controller.audit.values import Encoded


def number(value: float) -> Encoded:
    return Encoded("n", double=value)


def text(value: str) -> Encoded:
    return Encoded("s", text=value)


def test_and_binds_tighter_than_or() -> None:
    assert parse('class = "stock" and price > 10 or sym prefix "IB"') == [
        [Constraint("class", "=", text("stock")), Constraint("price", ">", number(10))],
        [Constraint("sym", "prefix", text("IB"))],
    ]


def test_star_is_one_disjunct_without_a_constraint() -> None:
    assert parse(" *\n") == [[]]


@pytest.mark.parametrize("op", ["=", "!=", "<", "<=", ">", ">="])
@pytest.mark.parametrize("space", ["", " ", "\t\r\n"])
def test_space_is_optional_around_sign_operators(op: str, space: str) -> None:
    assert parse(f"x{space}{op}{space}1") == [[Constraint("x", op, number(1))]]


def test_no_word_is_reserved() -> None:
    assert parse('exists exists and and = 1 or or prefix "or"') == [
        [Constraint("exists", "exists", Encoded("")), Constraint("and", "=", number(1))],
        [Constraint("or", "prefix", text("or"))],
    ]


def test_strings_are_json() -> None:
    assert parse(r'a.b-c_1 contains "\u00e9 \"or\" \ud83d\ude00"') == [
        [Constraint("a.b-c_1", "contains", text('é "or" 😀'))]
    ]


@pytest.mark.parametrize(
    "wrong",
    ["", " ", "x", "x =", "= 1", "x prefix 1", "x contains true", "x < true", "x >= false", "x = null", "x = 01",
     "x = 1.", "x = +1", "x = 1e400", "x = 18446744073709551616", r'x = "\ud800"', 'x = "a', "x = 'a'", "x = NaN",
     "x=1and y=2", 'x prefix"a"', 'x = "a"and y = 1', "x = 1 and", "x = 1 or or", "x = 1 y = 2", "é = 1", "1x = 1",
     "(x = 1)", "* and x = 1", "x exist", "x existsand y = 1", "X = True"],
)  # fmt: skip
def test_what_is_no_filter_is_refused(wrong: str) -> None:
    with pytest.raises(FilterError):
        parse(wrong)
