"""Random patterns against lxml, which shares no code with ours, on random documents."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from node.core.filters import parse

NAMES = st.sampled_from("abc")
TESTS = st.sampled_from(["[@x]", '[@x="1"]', '[@x="2"]', '[.="u"]', '[.=""]'])  # fmt: skip
AXES = st.sampled_from(["/", "//"])


def element(children):
    parts = st.tuples(NAMES, st.sampled_from(["", " x='1'", " x='2'"]), st.lists(children, max_size=3))
    return parts.map(lambda made: f"<{made[0]}{made[1]}>{''.join(made[2])}</{made[0]}>")


def path(branches):
    predicates = st.lists(st.one_of(TESTS, branches.map("[{}]".format), branches.map("[.//{}]".format)), max_size=2)
    steps = st.tuples(st.sampled_from("abc**"), predicates).map(lambda made: made[0] + "".join(made[1]))
    rest = st.lists(st.tuples(AXES, steps).map("".join), max_size=2).map("".join)
    return st.tuples(steps, rest).map("".join)


documents = st.recursive(
    element(st.sampled_from(["u", "v"])), lambda inner: element(st.one_of(st.sampled_from(["u", "v"]), inner)),
    max_leaves=8,
)  # fmt: skip
patterns = st.tuples(AXES, st.recursive(st.sampled_from("abc*"), path, max_leaves=5)).map("".join)

# All documents of up to three elements of two names, in every shape: small, but they refute most wrong coverings.
FAMILY = [
    *(f"<{a}/>" for a in "ab"),
    *(f"<{a}><{b}/></{a}>" for a, b in product("ab", repeat=2)),
    *(f"<{a}><{b}/><{c}/></{a}>" for a, b, c in product("ab", repeat=3)),
    *(f"<{a}><{b}><{c}/></{b}></{a}>" for a, b, c in product("abc", repeat=3)),
    *(f"<{a}><{b}><{c}><{d}/></{c}></{b}></{a}>" for a, b, c, d in product("abc", repeat=4)),
]


@settings(max_examples=200)
@given(patterns, st.lists(documents, max_size=8))
def test_matching_and_the_normal_form_agree_with_lxml(text, drawn):
    filter_ = parse(text, "xpath")
    again = parse(str(filter_), "xpath")
    assert again == filter_ and str(again) == str(filter_) and hash(again) == hash(filter_)
    as_written, as_normal = etree.XPath(f"boolean({text})"), etree.XPath(f"boolean({filter_})")
    for content in (*FAMILY, *drawn):
        tree = etree.fromstring(content)
        assert filter_.matches(content) == as_written(tree) == as_normal(tree), (str(filter_), content)


@settings(max_examples=150)
@given(patterns, patterns, st.lists(documents, max_size=8))
def test_covering_intersecting_and_merging_tell_the_truth(one, other, drawn):
    a, b = parse(one, "xpath"), parse(other, "xpath")
    both = a.merge(b)
    assert both == b.merge(a) and a.intersects(b) == b.intersects(a)
    for content in (*FAMILY, *drawn):
        in_a, in_b = a.matches(content), b.matches(content)
        assert in_a or not in_b or not a.covers(b), content
        assert not (in_a and in_b) or a.intersects(b), content
        assert both is None or both.matches(content) == (in_a or in_b), (str(both), content)


@settings(max_examples=150)
@given(st.lists(patterns, min_size=3, max_size=6))
def test_covering_is_transitive_and_mutual_only_between_equals(texts):
    pool = [parse(text, "xpath") for text in (*texts, "//*", '/a[.="u"][.="v"]')]
    for p, q in product(pool, pool):
        assert (p.covers(q) and q.covers(p)) == (p == q), (p, q)
        for r in pool:
            assert not (p.covers(q) and q.covers(r)) or p.covers(r), (p, q, r)


def test_hashes_do_not_depend_on_the_process():
    asked = "from node.core.filters import parse; f = parse('/a[c]/b', 'xpath'); print(hash(f), f)"
    told = {
        subprocess.run(
            [sys.executable, "-c", asked], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(told) == 1
