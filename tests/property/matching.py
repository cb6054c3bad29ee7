"""Small worlds in which filters often are equal, cover each other or match."""

from __future__ import annotations

from hypothesis import strategies as st

from node.core.filters import parse

NAMES = ["x", "y", "z"]
_numbers = st.sampled_from([0, 1, 1.5, 2, 3, -1])
_strings = st.sampled_from(["", "a", "ab", "abc", "b", "ba", "1"])
_booleans = st.sampled_from([True, False])
_name = st.sampled_from(NAMES)


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
filters = st.one_of(_text, st.just("*")).map(parse)
contents = st.dictionaries(_name, st.one_of(_numbers, _strings, _booleans), max_size=3)
