"""Small worlds in which filters often are equal, cover each other or match."""

from __future__ import annotations

import json

from hypothesis import strategies as st

from node.core.filters import parse

NAMES = ["x", "y", "z"]
_numbers = st.sampled_from([0, 1, 1.5, 2, 3, -1])
_strings = st.sampled_from(["", "a", "ab", "abc", "b", "ba", "1"])
_booleans = st.sampled_from([True, False])
_name = st.sampled_from(NAMES)


# Where doubles begin to leave integers out, where 64 bits end, and the ends of the doubles themselves.
_edges = st.sampled_from(
    [
        *(sign * (power + step) for sign in (1, -1) for power in (2**53, 2**62) for step in (-1, 0, 1)),
        *(
            2**63 - 1,
            -(2**63),
            -(2**63) + 1,
            2.0**53,
            2.0**53 + 2,
            -(2.0**53),
            2.0**63,
            -(2.0**63),
            2.0**64,
            2.0**64 + 4096,
        ),
        *(0, 0.0, -0.0, 1, 1.0, True, False, 5e-324, -5e-324, 1.7976931348623157e308, -1.7976931348623157e308, 0.1),
    ]
)
# The last come after each other by code point, but not by UTF-16 units; what is decomposed is not what is composed.
_odd_strings = st.sampled_from(
    ["", "\0", "a\0", "a", "1", "true", "é", "e\u0301", "\ud7ff", "\ue000", "\uffff", "\U00010000"]
)


def _written(value: str | float | bool) -> str:
    return json.dumps(value)


_edge_constraint = st.one_of(
    st.builds(
        lambda name, operator, value: (
            f"{name} {'=' if value is True or value is False else operator} {_written(value)}"
        ),
        _name,
        st.sampled_from(["=", "!=", "<", "<=", ">", ">="]),
        _edges,
    ),
    st.builds(
        lambda name, operator, text: f"{name} {operator} {_written(text)}",
        _name,
        st.sampled_from(["=", "!=", "<", "<=", ">", ">=", "prefix", "suffix", "contains"]),
        _odd_strings,
    ),
    st.builds("{} exists".format, _name),
)
edge_filters = st.lists(
    st.lists(_edge_constraint, min_size=1, max_size=3).map(" and ".join), min_size=1, max_size=2
).map(lambda texts: parse(" or ".join(texts)))
edge_contents = st.dictionaries(_name, st.one_of(_edges, _odd_strings), max_size=3)

_constraint = st.one_of(
    st.builds("{} {} {}".format, _name, st.sampled_from(["=", "!=", "<", "<=", ">", ">="]), _numbers),
    st.builds(
        lambda name, operator, text: f'{name} {operator} "{text}"',
        _name,
        st.sampled_from(["=", "!=", "<", "<=", ">", ">=", "prefix", "suffix", "contains"]),
        _strings,
    ),
    st.builds(lambda name, value: f"{name} = {str(value).lower()}", _name, _booleans),
    st.builds("{} exists".format, _name),
)
_conjunction = st.lists(_constraint, min_size=1, max_size=3).map(" and ".join)
_text = st.one_of(_conjunction, st.lists(_conjunction, min_size=2, max_size=3).map(" or ".join))
attr_filters = st.one_of(_text, st.just("*")).map(parse)
contents = st.dictionaries(_name, st.one_of(_numbers, _strings, _booleans), max_size=3)

_axis = st.sampled_from(["/", "//"])
_label = st.sampled_from(["a", "b", "c", "*"])
_test = st.sampled_from(["", "", "", "[@k]", '[@k="1"]', '[@l="2"]', '[.="t"]'])


def _steps(predicate):
    step = st.builds("{}{}{}{}".format, _axis, _label, _test, predicate)
    return st.lists(step, min_size=1, max_size=3).map("".join)


def _predicate(path):
    return f"[.{path}]" if path.startswith("//") else f"[{path[1:]}]"


_branch = _steps(st.just("")).map(_predicate)
_pattern = _steps(st.one_of(st.just(""), _branch))
xpath_filters = _pattern.map(lambda text: parse(text, "xpath"))
_attributes = st.sampled_from(["", "", ' k="1"', ' k="2"', ' l="2"'])
documents = st.recursive(
    st.builds("<{0}{1}>{2}</{0}>".format, st.sampled_from("abc"), _attributes, st.sampled_from(["", "t"])),
    lambda inner: st.builds(
        lambda name, own, children: f"<{name}{own}>{''.join(children)}</{name}>",
        st.sampled_from("abc"),
        _attributes,
        st.lists(inner, max_size=3),
    ),
    max_leaves=10,
)
filters = st.one_of(attr_filters, xpath_filters)
