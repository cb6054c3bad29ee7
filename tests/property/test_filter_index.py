"""The index that brokers use against the twin that tries every filter."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from node.core.filters import parse
from node.core.matching import attributes, packed
from node.core.matching.index import FilterIndex
from node.core.matching.naive import NaiveMatcher
from tests.property import matching

DOCUMENT = '<a k="1"><b><c>t</c><a/></b><c l="2"/></a>'
steps = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.integers(0, 40), matching.filters),
        st.tuples(st.just("remove"), st.integers(0, 40)),
        st.tuples(st.just("match"), st.one_of(matching.contents, matching.documents)),
    ),
    max_size=80,
)


@pytest.mark.parametrize("waiting_max", [0, 5, 1_000])
@settings(max_examples=80)
@given(drawn=steps)
def test_the_index_names_the_same_keys_in_the_same_order_as_its_twin(waiting_max, drawn) -> None:
    index: FilterIndex[int] = FilterIndex()
    twin: NaiveMatcher[int] = NaiveMatcher()
    held: set[int] = set()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(attributes, "WAITING_MAX", waiting_max)
        patch.setattr(packed, "CACHE_BYTES_MAX", 0)
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
