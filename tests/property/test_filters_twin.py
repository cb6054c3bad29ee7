"""Random filters against a dumb twin that evaluates what was written, constraint by constraint."""

from __future__ import annotations

import json
import math
import sys
from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from node.core.filters import Filter, parse
from node.core.matching.naive import NaiveMatcher

NAMES = ["x", "y", "and", "exists"]
STRINGS = ["", "a", "b", "ab", "ba", "aba", "abb", "a\0", "\0", "a\U0010ffff", "\U0010ffff", "\ud7ff", "\ue000", "😀"]
NUMBERS = [
    0, -0.0, 1, 1.0, 1.5, 2, -1, math.nextafter(1, 2), math.nextafter(1, 0), 5e-324, 2**53, 2**53 + 1, 2.0**53 + 2,
    -(2**53) - 1, 2**63 - 1, 2.0**63, -(2**63), math.nextafter(-(2.0**63), -math.inf), sys.float_info.max,
    -sys.float_info.max,
]  # fmt: skip
VALUES = [*STRINGS, *NUMBERS, True, False]
ABSENT = object()


def twin_holds(operator, operand, value):
    if value is ABSENT:
        return False
    if operator == "exists":
        return True
    if kind(value) != kind(operand):
        return False
    return {
        "=": lambda: value == operand,
        "!=": lambda: value != operand,
        "<": lambda: value < operand,
        "<=": lambda: value <= operand,
        ">": lambda: value > operand,
        ">=": lambda: value >= operand,
        "prefix": lambda: value[: len(operand)] == operand,
        "suffix": lambda: value[max(0, len(value) - len(operand)) :] == operand,
        "contains": lambda: any(value[at : at + len(operand)] == operand for at in range(len(value) + 1)),
    }[operator]()


def twin_matches(conjunctions, content):
    return any(
        all(twin_holds(operator, operand, content.get(name, ABSENT)) for name, operator, operand in conjunction)
        for conjunction in conjunctions
    )


def kind(value):
    return "bool" if isinstance(value, bool) else "str" if isinstance(value, str) else "number"


def written(conjunctions):
    return " or ".join(
        " and ".join(
            f"{name} {operator}" if operator == "exists" else f"{name} {operator} {json.dumps(operand)}"
            for name, operator, operand in conjunction
        )
        for conjunction in conjunctions
    )


def operators_for(value):
    if isinstance(value, bool):
        return ["=", "!=", "exists"]
    order = ["=", "!=", "<", "<=", ">", ">=", "exists"]
    return [*order, "prefix", "suffix", "contains"] if isinstance(value, str) else order


operands = st.one_of(
    st.sampled_from(VALUES),
    st.text(max_size=3),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
)
constraints = operands.flatmap(
    lambda value: st.tuples(st.sampled_from(NAMES), st.sampled_from(operators_for(value)), st.just(value))
)
trees = st.lists(st.lists(constraints, min_size=1, max_size=4), min_size=1, max_size=3)
contents = st.dictionaries(st.sampled_from(NAMES), operands, max_size=4)
small_contents = [
    {name: value for name, value in (("x", x), ("y", y)) if value is not ABSENT}
    for x, y in product([ABSENT, *VALUES], [ABSENT, "a", 1, True])
]


@settings(max_examples=200, deadline=None)
@given(trees, st.lists(contents, max_size=5))
def test_the_normal_form_matches_what_was_written(tree, drawn):
    filter_ = parse(written(tree))
    for content in (*small_contents, *drawn):
        assert filter_.matches(content) == twin_matches(tree, content), (str(filter_), content)


@settings(max_examples=200, deadline=None)
@given(trees)
def test_the_text_of_the_normal_form_parses_back(tree):
    filter_ = parse(written(tree))
    again = parse(str(filter_))
    assert again == filter_ and hash(again) == hash(filter_) and str(again) == str(filter_)


@settings(deadline=None)
@given(trees, st.randoms(use_true_random=False))
def test_order_and_repetition_of_what_was_written_do_not_matter(tree, random):
    shuffled = [random.sample([*each, random.choice(each)], len(each) + 1) for each in (*tree, random.choice(tree))]
    random.shuffle(shuffled)
    assert parse(written(shuffled)) == parse(written(tree))


@settings(max_examples=200, deadline=None)
@given(trees, trees)
def test_covering_and_intersecting_tell_the_truth_about_contents(one, other):
    a, b = parse(written(one)), parse(written(other))
    covers, intersects = a.covers(b), a.intersects(b)
    assert intersects == b.intersects(a)
    for content in small_contents:
        if b.matches(content):
            assert a.matches(content) or not covers
            assert not a.matches(content) or intersects


@settings(max_examples=150, deadline=None)
@given(trees, trees)
def test_a_disjunction_covers_its_parts_and_a_conjunction_is_covered_by_them(one, other):
    a, b, both = (parse(written(one)), parse(written(other)), parse(written([*one, *other])))
    product_ = parse(written([[*left, *right] for left in one for right in other]))
    assert both.covers(a) and both.covers(b) and parse("*").covers(both)
    assert a.covers(product_) and b.covers(product_)
    assert (both == a) == a.covers(b)
    assert a.intersects(b) == (str(product_) != 'never < ""')


@settings(max_examples=200, deadline=None)
@given(trees, trees)
def test_merging_matches_exactly_what_either_matches(one, other):
    a, b = parse(written(one)), parse(written(other))
    both = a.merge(b)
    assert both is not None or not (a.covers(b) or b.covers(a))
    if both is not None:
        assert parse(str(both)) == both
        for content in small_contents:
            assert both.matches(content) == (a.matches(content) or b.matches(content)), (str(both), content)


@settings(max_examples=150, deadline=None)
@given(st.lists(trees, min_size=3, max_size=3))
def test_covering_is_transitive_and_mutual_only_between_equals(drawn):
    a, b, c = (parse(written(tree)) for tree in drawn)
    pool: list[Filter] = [a, b, c, parse(f"{a} or {b}") if "*" not in (str(a), str(b)) else a, parse(str(c))]
    for p, q in product(pool, pool):
        assert (p.covers(q) and q.covers(p)) == (p == q)
        assert [p < q, p == q, p > q].count(True) == 1 and (p <= q) == (not p > q) and (p >= q) == (not p < q)
        for r in pool:
            assert not (p.covers(q) and q.covers(r)) or p.covers(r)


@settings(deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 5), trees), max_size=12), contents)
def test_the_matcher_names_the_keys_of_matching_filters_in_order(steps, content):
    matcher: NaiveMatcher[int] = NaiveMatcher()
    twin: dict[Filter, dict[int, object]] = {}
    held: dict[int, Filter] = {}
    for adds, key, tree in steps:
        if adds and key not in held:
            held[key] = parse(written(tree))
            matcher.add(key, held[key])
            twin.setdefault(held[key], {})[key] = tree
        elif not adds and key in held:
            matcher.remove(key)
            keys = twin[held[key]]
            del keys[key]
            if not keys:
                del twin[held[key]]
            del held[key]
    expected = [key for keys in twin.values() for key, tree in keys.items() if twin_matches(tree, content)]
    assert matcher.match(content, "attr") == expected
    assert matcher.match(content, "xpath") == [] and len(matcher) == len(held)
