from __future__ import annotations

import tracemalloc

import pytest

from controller.cli import run
from node.core.filters import ContentError, FilterError, check_content, parse
from node.core.filters.xpath.document import BYTES_MAX, DEPTH_MAX
from node.core.filters.xpath.syntax import STEPS_MAX


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("/a/b", "/a/b"),
        ("/a[b]", "/a/b"),
        ("/a[c]/b", "/a[b]/c"),
        ("/a[.//b]", "/a//b"),
        ("/a[b][b/c]", "/a/b/c"),
        ("/a[.//c]/b/c", "/a/b/c"),
        ("/a/*//b", "/a//*//b"),
        ("/a//*/b", "/a//*//b"),
        ("/a/*/b", "/a/*/b"),
        ("/*", "//*"),
        ("/a/*/*", "/a//*//*"),
        ("/a[*]/b", "/a/b"),
        ('/a[@x][@x="1"]', '/a[@x="1"]'),
        ('/a[.="u"][@y][@x]', '/a[@x][@y][.="u"]'),
        ('/a[@x="1"][@x="2"]', '/never[.="1"][.="2"]'),
        ('/a[.="u"]//b[.="v"]', '/never[.="1"][.="2"]'),
        ('/never[.="1"][.="2"]', '/never[.="1"][.="2"]'),
    ],
)
def test_normal_forms(text, normal):
    filter_ = parse(text, "xpath")
    assert str(filter_) == normal and parse(normal, "xpath") == filter_


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("", 0), ("a", 0), ("/", 1), ("///a", 2), ("/a[", 3), ("/a[]", 3), ("/a[/b]", 3), ("/a[//b]", 3),
        ("/a[b/@x]", 5), ('/a[b="v"]', 4), ("/a[@x='1']", 6), ('/a[@x="1]', 6), ("/a /b", 2), ("/a:b", 2),
        ("/a[./b]", 4), ("/a[1]", 3), ("/a]", 2), ('/a[.="\x01"]', 6), ("/a/", 3), ("/a[@*]", 4),
        ("/a" * STEPS_MAX + "/a", 2 * STEPS_MAX + 1),
    ],
)  # fmt: skip
def test_errors_point_at_the_character(text, position):
    with pytest.raises(FilterError) as caught:
        parse(text, "xpath")
    assert caught.value.position == position and str(caught.value).isprintable()


@pytest.mark.parametrize(
    "content", ["<a/>", " <a><!-- c --><?p i?>t<b x='1'/></a>\n", "<é>😀</é>", "<a><![CDATA[<]]></a>"]
)
def test_documents(content):
    check_content(content, "xpath")


BOMB = '<!DOCTYPE a [<!ENTITY b "x"><!ENTITY c "' + "&b;" * 1000 + '">]><a>&c;</a>'


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "one XML element"), ("x", "one XML element"), ("<a>", "well-formed"), ("<a/><b/>", "well-formed"),
        ("<a/>x", "well-formed"), ("<a x='1' x='2'/>", "well-formed"), ("<a>&b;</a>", "well-formed"),
        ("<?xml version='1.0'?><a/>", "XML declaration"), ("<p:a/>", "namespaces"), ("<a xmlns='u'/>", "namespaces"),
        ("<a xml:lang='de'/>", "namespaces"), ("<!-- c --><a/>", "outside"), ("<a/><?p i?>", "outside"),
        ("<a>\ud800</a>", "surrogate"), ("<!DOCTYPE a><a/>", "DOCTYPE"), (BOMB, "DOCTYPE"),
        ('<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>', "DOCTYPE"),
        ("<a>" * (DEPTH_MAX + 1) + "</a>" * (DEPTH_MAX + 1), "levels deep"),
        ("<a>" * 100_000 + "</a>" * 100_000, "levels deep"),
        ("<a>" + "<b/>" * 200_000 + "</a>", "elements and attributes"),
        ("<a>" + "é" * (BYTES_MAX // 2) + "</a>", "bytes"), ({"x": 1}, "is a text"),
    ],
)  # fmt: skip
def test_no_documents(content, says):
    with pytest.raises(ContentError, match=says) as caught:
        check_content(content, "xpath")
    assert len(str(caught.value).splitlines()) == 1
    assert not parse("//*", "xpath").matches(content)


def test_fifty_megabytes_are_refused_without_a_copy():
    content = "<a>" + "x" * 50_000_000 + "</a>"
    tracemalloc.start()
    with pytest.raises(ContentError, match="bytes"):
        check_content(content, "xpath")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [
        ("/a/b", "/a//*//b", "/a//b"), ("/b", "//*//b", "//b"), ("/a/*/b", "/a/*/*//b", "/a//*//b"),
        ("/a//b", "/a/b", "/a//b"), ("/a", "/b", None), ("x < 3", "x > 3", "x != 3"),
        ("x < 3", "x >= 3 and x < 5", "x < 5"), ("x < 3", "x > 4", None), ("x = 1", "y = 1", None),
        ('x < "b"', 'x >= "b" and x < "c"', 'x < "c"'), ("x = true", "x = false", None),
        ("x = 1 and y < 3", "x = 1 and y >= 3", f"x = 1 and y <= {1.7976931348623157e308!r}"),
    ],
)  # fmt: skip
def test_merging_is_exact_or_not_done(one, other, both):
    lang = "xpath" if one.startswith("/") else "attr"
    a, b = parse(one, lang), parse(other, lang)
    assert a.merge(b) == b.merge(a) == (None if both is None else parse(both, lang))


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        (["match", "/a//b", "<a><c><b/></c></a>"], 0, "yes"),
        (["match", "x > 3", '{"x": 1}'], 1, "no"),
        (["covers", "/a//b", "/a/c/b"], 0, "yes"),
        (["covers", "/a/b", "/a//b"], 1, "no"),
        (["show", "/a[b]/c"], 0, "/a[b]/c"),
        (["show", "/a[b/@x]"], 64, ""),
        (["match", "/a", "<a"], 64, ""),
    ],
)
def test_the_command(capsys, arguments, status, says):
    assert run(["filter", *arguments]) == status
    assert capsys.readouterr().out.splitlines()[:1] == ([says] if says else [])
