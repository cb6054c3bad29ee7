from __future__ import annotations

import itertools
import re
from random import Random

import pytest
from lxml import etree

from controller.errors import UsageError
from controller.workloads.news import dtd
from controller.workloads.news.patterns import Settings, patterns

NEWS = dtd.news()
PLAIN = Settings(p_star=0, p_descendant=0, p_lambda=0)


def test_the_dtd_is_of_nitfs_size() -> None:
    assert len(NEWS.elements) == 123
    assert sum(len(one.attributes) for one in NEWS.elements.values()) == 513
    assert NEWS.elements["head"].children == ("title", "filing", "codes", "rights", "meta", "issue")
    assert NEWS.elements["meta"].model is None
    assert NEWS.elements["p"].has_text
    assert not NEWS.elements["head"].has_text


def test_every_element_can_be_reached() -> None:
    reached, waiting = {NEWS.root}, [NEWS.root]
    while waiting:
        new = set(NEWS.elements[waiting.pop()].children) - reached
        reached |= new
        waiting += sorted(new)
    assert reached == set(NEWS.elements)


def test_plain_patterns_are_walks_from_the_root_of_the_dtd() -> None:
    heights = set()
    for text in patterns(NEWS, PLAIN, 2000, False, Random(1)):
        names = text.split("/")[1:]
        assert names[0] == "news"
        assert all(child in NEWS.elements[parent].children for parent, child in itertools.pairwise(names))
        heights.add(len(names))
    assert max(heights) == 10
    assert min(heights) == PLAIN.h_min


def test_a_set_is_the_seeds_and_unique_if_asked_for() -> None:
    unique = patterns(NEWS, Settings(), 5000, True, Random(7))
    assert len(set(unique)) == 5000
    assert unique == patterns(NEWS, Settings(), 5000, True, Random(7))
    multiple = patterns(NEWS, Settings(), 5000, False, Random(7))
    assert len(multiple) == 5000
    assert len(set(multiple)) < 4000
    assert unique[:100] == list(dict.fromkeys(multiple))[:100]


def test_all_kinds_of_nodes_occur_and_lxml_reads_them() -> None:
    made = patterns(NEWS, Settings(p_attribute=0.05), 3000, True, Random(2))
    for piece in ("/*", "[.//", "[*", "//", "[@", '="'):
        assert any(piece in text for text in made), piece
    for text in made:
        etree.XPath(text)
        assert "///" not in text
        assert not text.endswith("//")
        assert re.search("[a-z]", text)


def test_a_document_of_the_dtd_can_match_what_has_no_height_left() -> None:
    assert set(patterns(NEWS, Settings(h=1, h_min=1, p_descendant=0, p_star=0), 5, False, Random(1))) == {"/news"}


def test_settings_without_enough_patterns_are_refused() -> None:
    with pytest.raises(UsageError, match="hardly more than 1 different patterns"):
        patterns(NEWS, Settings(h=1, h_min=1, p_descendant=0, p_star=0), 2, True, Random(1))
    with pytest.raises(UsageError, match="h_min is 5, more than h = 4"):
        patterns(NEWS, Settings(h=4, h_min=5), 1, True, Random(1))
