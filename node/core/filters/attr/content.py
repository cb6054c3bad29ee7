from __future__ import annotations

import json
import math
from typing import Any, NoReturn

from node.core.filters.attr.syntax import INT_MAX, INT_MIN, NAME, Scalar, well_formed
from node.core.filters.errors import ContentError

_INT_DIGITS_MAX = 20
_KINDS: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (dict, "an object"),
    (list, "an array"),
    (str, "a string"),
    (bool, "a boolean"),
    ((int, float), "a number"),
)


def check(content: object) -> None:
    if type(content) is not dict:
        raise ContentError(f'a content is an object of names and values, such as {{"x": 1}}, not {_kind(content)}')
    for name, value in content.items():
        if type(name) is not str or NAME.fullmatch(name) is None:
            raise ContentError(
                f"{_shown(name)} is not a name: it needs an ASCII letter, then letters, digits, `_`, `.`, `-`"
            )
        _check_value(name, value)


def read(text: str) -> dict[str, Scalar]:
    """A content from JSON text, checked."""
    try:
        content = json.loads(text, object_pairs_hook=_distinct, parse_constant=_refuse_constant, parse_int=_integer)
    except json.JSONDecodeError as error:
        raise ContentError(
            f'the content is not JSON: {error.msg} at character {error.pos + 1}; it should look like {{"x": 1}}'
        ) from error
    except RecursionError as error:
        raise ContentError("a value is a string, a number, true or false; nothing is nested") from error
    check(content)
    checked: dict[str, Scalar] = content
    return checked


def _check_value(name: str, value: object) -> None:
    kind = type(value)
    if kind is bool:
        return
    if isinstance(value, str) and kind is str:
        if not well_formed(value):
            raise ContentError(f"the value of {_shown(name)} has half a surrogate pair; it must be well-formed Unicode")
    elif isinstance(value, int) and kind is int:
        if not INT_MIN <= value <= INT_MAX:
            raise ContentError(f"the value of {_shown(name)} must fit into 64 bits: {INT_MIN} to {INT_MAX}")
    elif isinstance(value, float) and kind is float:
        if not math.isfinite(value):
            raise ContentError(f"the value of {_shown(name)} must be a finite number")
    else:
        raise ContentError(f"the value of {_shown(name)} must be a string, a number, true or false, not {_kind(value)}")


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content: dict[str, Any] = {}
    for name, value in pairs:
        if name in content:
            raise ContentError(f"the name {_shown(name)} occurs twice; a content has one value for each name")
        content[name] = value
    return content


def _refuse_constant(constant: str) -> NoReturn:
    raise ContentError(f"{constant} is not a JSON number; a number must be finite")


def _integer(digits: str) -> int:
    # Python refuses to convert thousands of digits; what is too long for 64 bits need not be exact to be refused.
    return int(digits) if len(digits) <= _INT_DIGITS_MAX else INT_MAX + 1


def _shown(name: object) -> str:
    shown = ascii(name)
    return shown if len(shown) <= 40 else shown[:40] + "…"


def _kind(value: object) -> str:
    if value is None:
        return "null"
    for kinds, article_and_noun in _KINDS:
        if isinstance(value, kinds):
            return article_and_noun
    return type(value).__name__
