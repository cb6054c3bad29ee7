"""The index that brokers use against the twin that tries every filter."""

from __future__ import annotations

import subprocess
import sys
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from node.core.filters import parse
from node.core.matching import arrays, attributes, bits, forest, harvest, packed, patterns
from node.core.matching.index import FilterIndex
from node.core.matching.layers import Sizes
from node.core.matching.naive import NaiveMatcher
from tests.bench import world
from tests.property import matching

DOCUMENT = '<a k="1"><b><c>t</c><a/></b><c l="2"/></a>'


@pytest.fixture(params=["as brokers have it", "all packed", "many small parts"])
def sizes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same answers whatever waits, is packed, remembered or left to numpy."""
    if request.param == "as brokers have it":
        return
    for module, name, value in (
        (attributes, "SIZES", Sizes(0, 1_000, 4) if request.param == "all packed" else Sizes(2, 7, 2)),
        (patterns, "SIZES", Sizes(0, 1_000, 4) if request.param == "all packed" else Sizes(2, 9, 2)),
        (packed, "KEPT_ROWS_MAX", 4),
        (packed, "KEPT_ROWS_MIN", 4),
        (forest, "CHILDREN_MAX", 2),
        (forest, "KEPT_BYTES_MAX", 1 << 20 if request.param == "all packed" else 2_000),
        (harvest, "FEW", 0),
        (harvest, "NUMPY_WIDTH_MIN", 0 if request.param == "all packed" else 30),
        (harvest, "SPARSE_BYTES_MIN", 0 if request.param == "all packed" else 3),
        (bits, "STEP", 3),
        (arrays, "STEP", 3),
        (packed, "ARRAYS_WIDTH_MIN", 1_000 if request.param == "many small parts" else 5),
        (packed, "KEPT_COMBINATIONS_MAX", 2),
    ):
        monkeypatch.setattr(module, name, value)


def assert_same_as_twin(drawn) -> None:
    index: FilterIndex[int] = FilterIndex()
    twin: NaiveMatcher[int] = NaiveMatcher()
    held: set[int] = set()
    for what, *rest in [*drawn, ("match", {"x": 1}), ("match", {"x": True, "y": "ab"}), ("match", DOCUMENT)]:
        if what == "add" and rest[0] not in held:
            held.add(rest[0])
            index.add(*rest)
            twin.add(*rest)
        elif what == "remove" and rest[0] in held:
            held.discard(rest[0])
            index.remove(*rest)
            twin.remove(*rest)
        elif what == "match":
            for lang in ("attr", "xpath"):
                assert index.match(rest[0], lang) == twin.match(rest[0], lang)
        assert len(index) == len(twin)


def steps(filters, contents):
    key = st.integers(0, 40)
    return st.lists(
        st.one_of(
            st.tuples(st.just("add"), key, filters),
            st.tuples(st.just("add"), key, filters),
            st.tuples(st.just("remove"), key),
            st.tuples(st.just("match"), contents),
        ),
        max_size=120,
    )


# Resetting what the fixture set between examples would change nothing.
unhurried = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@unhurried
@given(drawn=steps(matching.filters, st.one_of(matching.contents, matching.documents)))
def test_the_index_names_the_same_keys_in_the_same_order_as_its_twin(sizes, drawn) -> None:
    assert_same_as_twin(drawn)


@unhurried
@given(drawn=steps(matching.edge_filters, matching.edge_contents))
def test_values_are_compared_exactly_at_the_edges_of_what_machines_hold(sizes, drawn) -> None:
    assert_same_as_twin(drawn)


@pytest.mark.parametrize("value", [2**53, 2**53 + 1, float(2**53), 2**63 - 1, float(2**63), -(2**63), -0.0, True, "1"])
def test_one_value_in_a_table_of_neighbours(sizes, value) -> None:
    """Of numbers that are one double apart, or none, exactly those match that are told to."""
    neighbours = (2**53 - 1, 2**53, 2**53 + 1, 2**53 + 2, 2**63 - 1, 2**63 - 2, -(2**63), 0, 1, 2.0**63)
    texts = [f"x {operator} {each!r}" for each in neighbours for operator in ("=", "!=", "<", "<=", ">", ">=")]
    assert_same_as_twin([*(("add", key, parse(text)) for key, text in enumerate(texts)), ("match", {"x": value})])


def test_removed_and_added_again_at_the_size_of_a_broker() -> None:
    """Parts grow, join, lose more than half and are made anew, with numpy and without."""
    random = Random(1)
    index: FilterIndex[int] = FilterIndex()
    twin: NaiveMatcher[int] = NaiveMatcher()
    filters = [parse(text) for text in world.texts(6_000)]
    contents = world.contents(150)
    held: list[int] = []
    for round_, content in enumerate(contents):
        grows = round_ < 60 or round_ > 120
        for _ in range(50 if grows else 45):
            if grows or not held:
                key = len(filters) - 1 if not held else random.randrange(10**9)
                held.append(key)
                filter = random.choice(filters)
                index.add(key, filter)
                twin.add(key, filter)
            else:
                key = held.pop(random.randrange(len(held)))
                index.remove(key)
                twin.remove(key)
        if round_ % 20 == 0:
            assert index.match(content, "attr") == twin.match(content, "attr")
        else:
            index.match(content, "attr")
    assert len(index) == len(twin) == len(held)


def test_a_small_table_does_not_load_numpy() -> None:
    """Its import costs a broker memory and time."""
    code = """
import sys
from node.core.filters import parse
from node.core.matching.index import FilterIndex

index = FilterIndex()
for n in range({count}):
    index.add(n, parse(f"x > {{n % 50}} and y < {{n}}"))
assert len(index.match({{"x": 60, "y": -1}}, "attr")) == {count}
print("numpy" in sys.modules)
"""
    for count, loads in ((900, "False"), (1_000, "True")):
        command = [sys.executable, "-c", code.format(count=count)]
        assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == loads


def test_a_key_is_added_once_and_removed_once() -> None:
    index: FilterIndex[str] = FilterIndex()
    index.add("k", parse("x > 1"))
    with pytest.raises(KeyError):
        index.add("k", parse("x > 2"))
    index.remove("k")
    with pytest.raises(KeyError):
        index.remove("k")


def test_a_content_of_another_language_matches_nothing() -> None:
    index: FilterIndex[str] = FilterIndex()
    index.add("k", parse("*"))
    assert index.match("<a/>", "attr") == index.match("<a/>", "xpath") == []
    assert index.match({}, "attr") == ["k"]


def test_a_text_that_is_no_document_matches_nothing() -> None:
    index: FilterIndex[str] = FilterIndex()
    index.add("k", parse("//*", "xpath"))
    assert index.match("<a>", "xpath") == [] and index.match("<a/>", "xpath") == ["k"]
