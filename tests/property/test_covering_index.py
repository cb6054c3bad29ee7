"""The covering index against the twin that asks everyone."""

from __future__ import annotations

from typing import ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from node.core.filters import Filter, parse
from node.core.matching.covering import CoveringIndex
from node.core.matching.naive_covering import NaiveCovering
from tests.property import matching


class Prefix(Filter):
    """Of a language that nobody knows: a text covers those that it is a prefix of."""

    lang: ClassVar = "prefix"

    def matches(self, content: object) -> bool:
        return content == str(self)

    def covers(self, other: Filter) -> bool:
        return isinstance(other, Prefix) and str(other).startswith(str(self))

    def intersects(self, other: Filter) -> bool:
        return self.covers(other) or other.covers(self)

    def merge(self, other: Filter) -> Filter | None:
        return None


def assert_same_answers(index: CoveringIndex, twin: NaiveCovering, asked: list[Filter]) -> None:
    assert len(index) == len(twin)
    for each in asked:
        assert (each in index) == (each in twin)
        assert index.coverers(each) == twin.coverers(each), str(each)
        assert index.covered(each) == twin.covered(each), str(each)


@settings(max_examples=150)
@given(st.lists(matching.filters, max_size=60), st.lists(matching.filters, max_size=5), st.randoms())
def test_the_index_names_the_same_filters_in_the_same_order_as_its_twin(drawn, strangers, random) -> None:
    index, twin = CoveringIndex(), NaiveCovering()
    for nth, each in enumerate(drawn):
        if each in twin and (nth % 2 or random.random() < 0.5):
            index.remove(each)
            twin.remove(each)
        elif each not in twin:
            index.add(each)
            twin.add(each)
    assert_same_answers(index, twin, [*drawn, *strangers])
    random.shuffle(drawn)
    for each in drawn:
        if each in twin:
            index.remove(each)
            twin.remove(each)
    assert_same_answers(index, twin, [*drawn[:3], *strangers])


@given(st.lists(st.text(alphabet="ab", max_size=3).map(Prefix), unique=True), matching.filters)
def test_of_an_unknown_language_everyone_is_asked_and_languages_do_not_mix(strange, known) -> None:
    index, twin = CoveringIndex(), NaiveCovering()
    for each in [*strange, known]:
        index.add(each)
        twin.add(each)
    assert_same_answers(index, twin, [*strange, known])


def test_a_filter_is_added_once_and_removed_once() -> None:
    index = CoveringIndex()
    with pytest.raises(KeyError):
        index.remove(parse("x > 1"))
    index.add(parse("x > 1"))
    with pytest.raises(KeyError):
        index.add(parse("x > 1.0"))
    index.remove(parse("x > 1"))
    with pytest.raises(KeyError):
        index.remove(parse("x > 1"))


def test_an_equal_filter_that_is_another_object_is_left_out() -> None:
    index = CoveringIndex()
    index.add(parse("x > 1"))
    long = "x > 1 and " + " and ".join(["x > 0"] * 200)  # longer than what `parse` remembers
    assert parse(long) == parse("x > 1") and parse(long) is not parse("x > 1")
    assert index.coverers(parse(long)) == index.covered(parse(long)) == []
