from __future__ import annotations

import pytest

from node.core.filters import ContentError, check_content, parse_content


@pytest.mark.parametrize(
    "content",
    [
        {},
        {"x": 1, "y.z-_9": "a", "b": True, "f": -0.5},
        {"x": 2**63 - 1, "y": -(2**63), "z": 1.7976931348623157e308},
        {"x": "", "y": "😀\0"},
    ],
)
def test_contents(content):
    check_content(content, "attr")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ({"x": None}, "not null"),
        ({"x": {}}, "not an object"),
        ({"x": [1]}, "not an array"),
        ({"x": b"a"}, "not bytes"),
        ({"x": 2**63}, "64 bits"),
        ({"x": -(2**63) - 1}, "64 bits"),
        ({"x": float("nan")}, "finite"),
        ({"x": float("-inf")}, "finite"),
        ({"x": "a\ud800"}, "surrogate"),
        ({"": 1}, "not a name"),
        ({"1x": 1}, "not a name"),
        ({"x\n": 1}, "not a name"),
        ({"é": 1}, "not a name"),
        ({"x y": 1}, "not a name"),
        ({1: 1}, "not a name"),
        ([], "not an array"),
        ("<a/>", "not a string"),
        (None, "not null"),
    ],
)
def test_not_contents(content, says):
    with pytest.raises(ContentError, match=says) as caught:
        check_content(content, "attr")
    assert len(str(caught.value).splitlines()) == 1


def test_an_unknown_language_is_refused():
    with pytest.raises(ContentError, match="only attr and xpath are"):
        check_content("<a/>", "xslt")


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("{}", {}),
        (' {"x": 1, "y": 1.0, "z": "\\ud83d\\ude00", "b": false}\n', {"x": 1, "y": 1.0, "z": "😀", "b": False}),
    ],
)
def test_content_from_text(text, content):
    read = parse_content(text)
    assert read == content and [type(value) for value in read.values()] == [type(value) for value in content.values()]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "not JSON"),
        ("{'x': 1}", "not JSON"),
        ('{"x": 1,}', "not JSON"),
        ('{"x": 01}', "not JSON"),
        ('{"x": +1}', "not JSON"),
        ('{"x": 1} 2', "not JSON.* character 10"),
        ('{"x": "a\tb"}', "not JSON"),
        ('{"x": 1, "y": 2, "x": 1}', "'x' occurs twice"),
        ('{"x": NaN}', "NaN"),
        ('{"x": -Infinity}', "Infinity"),
        ('{"x": 1e999}', "finite"),
        ('{"x": 9223372036854775808}', "64 bits"),
        ('{"x": ' + "9" * 5000 + "}", "64 bits"),
        ('{"x": "\\ud800"}', "surrogate"),
        ('{"x": null}', "not null"),
        ('{"x": {"y": 1}}', "not an object"),
        ("[" * 100_000, "nested"),
        ("[1]", "not an array"),
        ("1", "not a number"),
    ],
)
def test_texts_that_are_no_content(text, says):
    with pytest.raises(ContentError, match=says) as caught:
        parse_content(text)
    assert len(str(caught.value).splitlines()) == 1
