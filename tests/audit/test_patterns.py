from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from controller.audit.patterns import DocumentError, PatternError, document, pattern
from tests.audit.judged import Judged
from tests.audit.logs import RunLog


@pytest.mark.parametrize(
    "text",
    ["/a", "//a", "/*", "//*", "/a/b//c", "/a[b]", "/a[b/c//d][e]", "/a[.//b]", "/a[@x]", '/a[@x="1"]/b[.="v w"]',
     "/a[b[c[d]]]", "/a-b/c.d/_e", '/a[b[@x="]"]]', "/and/or[div]", "/ä[ö]", '/a[.=""]'],
)  # fmt: skip
def test_what_the_contract_allows_is_read(text: str) -> None:
    pattern(text)


@pytest.mark.parametrize(
    "text",
    ["", "a", "/", "//", "/a/", "/a[", "/a]", "/a[]", "/a[b", "/a[/b]", "/a[//b]", "/a[b/@x]", "/a[@x='1']", "/a | /b",
     "/a[1]", "/a[last()]", "/a/text()", "/a[b and c]", "/a[not(b)]", "/x:a", "/a b", "/a[@x=1]", "/a[. ='v']", "/a/..",
     "/a[.]", "/@x", "/a[@x]b", "/a[b]]", "/1a", "///a", "/a[.//@x]", '/a[.="v"/b]'],
)  # fmt: skip
def test_everything_else_is_not(text: str) -> None:
    with pytest.raises(PatternError):
        pattern(text)


@pytest.mark.parametrize(
    ("text", "content", "matches"),
    [
        ("/a/b", "<a><b/></a>", True),
        ("/a/b", "<a><c><b/></c></a>", False),
        ("/a//b", "<a><c><b/></c></a>", True),
        ("//b", "<b/>", True),
        ('/a[.="xy"]', "<a>x<b>y</b></a>", True),
        ('/a[b[@x="1"]]', '<a><b x="2"/><b x="1"/></a>', True),
        ("/a[b][c]", "<a><b/></a>", False),
    ],
)
def test_lxml_decides(text: str, content: str, matches: bool) -> None:
    assert pattern(text)(document(content)) is matches


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "<a>",
        "<a/><b/>",
        '<!DOCTYPE a [<!ENTITY e "x">]><a>&e;</a>',
        "<a>&e;</a>",
        "<a" + "><a" * 10_000 + "/>",
    ],
)
def test_hostile_documents_are_not_read(text: str) -> None:
    with pytest.raises(DocumentError):
        document(text)


def test_xpath_subscriptions_are_judged(spark: SparkSession, tmp_path: Path) -> None:
    run = RunLog(tmp_path)
    log = run.driver().subscribed("c2", "s1", "/a[b]", lang="xpath").subscribed("c3", "s2", "//c", lang="xpath")
    log.subscribed("c4", "s3", "*").publish("c1", "<a><b/></a>", lang="xpath").deliver("c2", "c1:1", ["s1"])
    log.deliver("c3", "c1:1", ["s2"]).publish("c1", "<a><b/><c/></a>", lang="xpath").deliver("c3", "c1:2", ["s2"])
    found = Judged(run.write())
    told = {(row["check"], row["client"], row["msg"]) for row in found.rows}
    assert told == {("spurious", "c3", "c1:1"), ("missing", "c2", "c1:2")}
    assert found.verdict.verdict == "fail"


def test_xpath_advertisements_bind_their_publisher(spark: SparkSession, tmp_path: Path) -> None:
    run = RunLog(tmp_path)
    log = run.driver().subscribed("c2", "s1", "//b", lang="xpath")
    log.add("advertise", client="c1", broker="b1", adv="a1", filter="/a", lang="xpath")
    log.add("advertised", client="c1", broker="b1", adv="a1", filter="/a", lang="xpath")
    log.publish("c1", "<a><b/></a>", lang="xpath").deliver("c2", "c1:1", ["s1"]).publish("c1", "<z/>", lang="xpath")
    found = Judged(run.write())
    assert {(row["check"], row["msg"]) for row in found.rows} == {("advertised", "c1:2")}
