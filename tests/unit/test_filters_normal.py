from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from node.core.filters import parse
from node.core.matching import Matcher
from node.core.matching.naive import NaiveMatcher


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("x > 3 and x > 5", "x > 5"),
        ("x >= 1 and x <= 1.0", "x = 1"),
        ("x > 0 and x != -1", "x > 0"),
        ("x >= 0 and x != 0", "x > 0"),
        ("x >= 0 and x < 7 and x != 7", "x >= 0 and x < 7"),
        ("x exists and x != 5", "x != 5"),
        ("x > 1 and x < 1.0000000000000002", 'never < ""'),
        ("x > 9007199254740992 and x < 9007199254740994", "x = 9007199254740993"),
        ("x > 5 or x > 3", "x > 3"),
        ("x = 1 or x = 1.0", "x = 1"),
        ("y = 1 and x = 1 or x = 1", "x = 1"),
        ('x prefix "ab" and x prefix "abc"', 'x prefix "abc"'),
        ('x >= "ab" and x < "ac"', 'x prefix "ab"'),
        ('x prefix "ab" and x contains "b"', 'x prefix "ab"'),
        ('x suffix "ab" and x suffix "b" and x contains "a"', 'x suffix "ab"'),
        ('x contains "a" and x contains "bab"', 'x contains "bab"'),
        ('x = "ab" and x prefix "a" and x contains "b"', 'x = "ab"'),
        ('x != ""', 'x > ""'),
        ('x suffix ""', 'x >= ""'),
        ('x <= ""', 'x = ""'),
        ('x prefix "a" and x suffix "c" and x != "d"', 'x prefix "a" and x suffix "c"'),
        (
            r'x suffix "q" and x contains "\u0000\u0000" and x >= "q" and x < "q\u0000\u0000\u0000z"',
            r'x > "q" and x < "q\u0000\u0000\u0000z" and x suffix "q"',
        ),
        (r'x > "a\u0000" and x suffix "b"', 'x >= "a" and x suffix "b"'),
        ('x >= "\ud7ff" and x < "\ue000" and x contains "\ud7ff"', r'x prefix "\ud7ff"'),
        ("x <= 0 and x != 0", "x < 0"),
        ("x != true", "x = false"),
        ("x = true and x = 1", 'never < ""'),
        ("x = true and x != true", 'never < ""'),
        ('x prefix "a" and x prefix "b"', 'never < ""'),
        ('x suffix "a" and x suffix "b"', 'never < ""'),
        ("x = 1 and x = 2 or y = 3", "y = 3"),
        ("x <= 1.7976931348623157e308", "x <= 1.7976931348623157e+308"),
        ("b = 1 and a = 2", "a = 2 and b = 1"),
    ],
)
def test_normal_forms(text, normal):
    assert str(parse(text)) == normal


@pytest.mark.parametrize(
    ("text", "content", "matches"),
    [
        ("*", {}, True),
        ("x != 3", {}, False),
        ("x != 3", {"x": "3"}, False),
        ("x != 3", {"x": True}, False),
        ("x = 1", {"x": True}, False),
        ("x = 0", {"x": False}, False),
        ("x <= 1", {"x": True}, False),
        ("x = true", {"x": 1}, False),
        ("x = 1", {"x": 1.0}, True),
        ("x = 0", {"x": -0.0}, True),
        ("x exists", {"x": False}, True),
        ("x exists", {"x": ""}, True),
        ("x exists", {"y": 1}, False),
        ("x = 9007199254740993", {"x": 9007199254740992.0}, False),
        ("x > 9007199254740992.0", {"x": 9007199254740993}, True),
        ('x < "b"', {"x": "B"}, True),
        ('x < "\uffff"', {"x": "\U00010000"}, False),
        ('x = "\u00e9"', {"x": "e\u0301"}, False),
        ('never < ""', {"never": ""}, False),
    ],
)
def test_matching(text, content, matches):
    assert parse(text).matches(content) is matches


def test_no_filter_matches_a_content_of_another_language():
    assert not parse("*").matches("<a/>")


@pytest.mark.parametrize(
    ("wide", "narrow"),
    [
        ("*", "x exists"),
        ("x exists", "x = 1"),
        ("x exists", 'x prefix "a" and y = 1'),
        ("x > 3", "x >= 4 and x != 5"),
        ("x != 3", "x > 3"),
        ('x prefix "a"', 'x prefix "ab" and x suffix "c"'),
        ('x contains "b"', 'x prefix "abc"'),
        ('x contains "b"', 'x suffix "abc"'),
        ('x > "a"', 'x prefix "b"'),
        ("x > 0 or y > 0", "y > 1 and z = 1"),
        ("x = 1", 'never < ""'),
    ],
)
def test_covering(wide, narrow):
    assert parse(wide).covers(parse(narrow)) and not parse(narrow).covers(parse(wide))


@pytest.mark.parametrize(
    ("wide", "narrow"), [("x >= 0 and x <= 3 or x >= 2 and x <= 5", "x >= 0 and x <= 5"), ("x < 3 or x > 3", "x != 3")]
)
def test_the_documented_limits_of_covering(wide, narrow):
    assert not parse(wide).covers(parse(narrow))


@pytest.mark.parametrize(
    ("one", "other", "intersects"),
    [
        ("x > 0", "y > 0", True),
        ("x > 0", "x < 0", False),
        ("x >= 0", "x <= 0", True),
        ("x > 0", 'x = "a"', False),
        ("x exists", 'x = "a"', True),
        ('x prefix "a"', 'x suffix "b"', True),
        ('x prefix "a"', 'x >= "b"', False),
        ('x contains "a"', 'x = "b"', False),
        ("*", 'never < ""', False),
        ("x = 1 or y = 1", "x = 2 and y = 2", False),
    ],
)
def test_intersecting(one, other, intersects):
    assert parse(one).intersects(parse(other)) is intersects
    assert parse(other).intersects(parse(one)) is intersects


def test_equal_filters_are_one_key_and_others_are_not():
    assert len({parse("x > 3"), parse(" x>3"), parse("x > 3 and x > 2"), parse("x >= 3")}) == 2
    assert parse("x > 3") != "x > 3"


def test_hash_and_order_are_the_same_in_every_process():
    program = (
        "from node.core.filters import parse\n"
        "filters = {parse(t) for t in ['x = 1', 'y exists', '*', 'x > \"a\"', 'b = true or a = 2']}\n"
        "print([(hash(f), str(f)) for f in filters], sorted(map(str, filters)) == list(map(str, sorted(filters))))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=Path(__file__).parents[2],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(outputs) == 1 and outputs.pop().endswith("True\n")


def test_the_matcher_stores_equal_filters_once_and_answers_by_filter_in_order():
    matcher: Matcher[str] = NaiveMatcher()
    matcher.add("s2", parse("x > 1"))
    matcher.add("s1", parse("x exists"))
    matcher.add("s3", parse("x > 1 and x > 0"))
    assert matcher.match({"x": 2}, "attr") == ["s2", "s3", "s1"]
    assert matcher.match({"x": 2}, "xpath") == []
    matcher.remove("s2")
    matcher.add("s2", parse("x > 1"))
    assert matcher.match({"x": 2}, "attr") == ["s3", "s2", "s1"]
    with pytest.raises(KeyError):
        matcher.add("s1", parse("*"))
    with pytest.raises(KeyError):
        matcher.remove("s9")
