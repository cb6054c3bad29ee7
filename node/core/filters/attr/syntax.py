"""From a filter's text to its constraints, as written; nothing is simplified here."""

from __future__ import annotations

import json
import math
import re
from typing import NamedTuple

from node.core.filters.errors import FilterError

Scalar = str | int | float | bool

INT_MIN = -(2**63)
INT_MAX = 2**63 - 1
SIGN_OPERATORS = ("=", "!=", "<", "<=", ">", ">=")
WORD_OPERATORS = ("prefix", "suffix", "contains")
OPERATORS = (*SIGN_OPERATORS, *WORD_OPERATORS)
ANYTHING = "*"

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")
_WORD = re.compile(r"[^ \t\r\n=!<>\"]+")
_SPACE = re.compile(r"[ \t\r\n]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?P<fraction>(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)")
_SIGN = re.compile(r"[!<>]=|[=<>]")
_STRING_OPENED = re.compile(r'"(?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*')
_SURROGATE_OR_ESCAPE = re.compile(
    r"(?P<pair>\\u[dD][89abAB]..\\u[dD][c-fC-F]..)|(?P<half>\\u[dD][89a-fA-F]..|[\ud800-\udfff])|\\."
)
_INT_DIGITS_MAX = 20


class Constraint(NamedTuple):
    """`operator` is one of OPERATORS or `exists`, which has no value."""

    name: str
    operator: str
    value: Scalar | None


Conjunctions = tuple[tuple[Constraint, ...], ...]


def read(text: str) -> Conjunctions:
    """The constraints of a filter's text; `*` is one conjunction without a constraint."""
    return _Reader(text).conjunctions()


def well_formed(text: str) -> bool:
    """Whether a string has no half surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def conjunctions(self) -> Conjunctions:
        if self.text.strip(" \t\r\n") == ANYTHING:
            return ((),)
        done: list[tuple[Constraint, ...]] = []
        current: list[Constraint] = []
        after = "at the beginning"
        while True:
            self._skip_space()
            current.append(self._constraint(after))
            joint = self._joint()
            if joint != "and":
                done.append(tuple(current))
                current = []
            if joint is None:
                return tuple(done)
            after = f"after `{joint}`"

    def _constraint(self, after: str) -> Constraint:
        name = self._name(after)
        operator = self._operator(name)
        if operator == "exists":
            return Constraint(name, operator, None)
        spaced = self._skip_space()
        if operator in WORD_OPERATORS and not spaced and self.at < len(self.text):
            raise self._error(f"a space is missing after `{operator}`")
        start = self.at
        value = self._value(operator)
        if operator in WORD_OPERATORS and not isinstance(value, str):
            raise self._error(f'`{operator}` takes a string, as in `{_shown(name)} {operator} "a"`', start)
        if isinstance(value, bool) and operator not in ("=", "!="):
            raise self._error(f"`{operator}` does not take true or false; only `=` and `!=` do", start)
        return Constraint(name, operator, value)

    def _name(self, after: str) -> str:
        match = NAME.match(self.text, self.at)
        if match is None:
            expected = f"{after} an attribute's name is expected (a letter, then letters, digits, `_`, `.`, `-`)"
            if self.text.startswith(ANYTHING, self.at):
                raise self._error(f"{expected}; `*` stands alone or not at all")
            if self.text.startswith("(", self.at):
                raise self._error(f"{expected}; there are no parentheses, `and` binds tighter than `or`")
            raise self._error(f"{expected}, not {self._found()}")
        self.at = match.end()
        return match.group()

    def _operator(self, name: str) -> str:
        spaced = self._skip_space()
        sign = _SIGN.match(self.text, self.at)
        if sign is not None:
            self.at = sign.end()
            return sign.group()
        word = self._word()
        if spaced and (word in WORD_OPERATORS or word == "exists"):
            self.at += len(word)
            return word
        if not spaced and word:
            raise self._error(f"a name has only ASCII letters, digits, `_`, `.` and `-`, not {self._found()}")
        known = " ".join((*OPERATORS, "exists"))
        raise self._error(f"after the name `{_shown(name)}` one of {known} is expected, not {self._found()}")

    def _value(self, operator: str) -> Scalar:
        if self.text.startswith('"', self.at):
            return self._string()
        word = self._word()
        if word in ("true", "false"):
            self.at += len(word)
            return word == "true"
        match = _NUMBER.match(self.text, self.at)
        if match is not None and match.end() == self.at + len(word):
            return self._number(match)
        expected = f"after `{operator}` a value is expected: a string in double quotes, a JSON number, true or false"
        raise self._error(f"{expected}; not {self._found()}")

    def _number(self, match: re.Match[str]) -> int | float:
        start, self.at = self.at, match.end()
        if not match["fraction"]:
            integer = int(match.group()) if len(match.group()) <= _INT_DIGITS_MAX else INT_MAX + 1
            if not INT_MIN <= integer <= INT_MAX:
                raise self._error(f"an integer must fit into 64 bits: {INT_MIN} to {INT_MAX}", start)
            return integer
        number = float(match.group())
        if not math.isfinite(number):
            raise self._error("the number is too large: at most 1.7976931348623157e308 either way", start)
        return number

    def _string(self) -> str:
        start = self.at
        opened = _STRING_OPENED.match(self.text, start)
        assert opened is not None
        if not self.text.startswith('"', opened.end()):
            raise self._error_in_string(start, opened.end())
        self.at = opened.end() + 1
        value: str = json.loads(self.text[start : self.at])
        if not well_formed(value):
            halves = (each for each in _SURROGATE_OR_ESCAPE.finditer(self.text, start, self.at) if each["half"])
            raise self._error("half a surrogate pair; write both halves, or the character itself", next(halves).start())
        return value

    def _error_in_string(self, start: int, at: int) -> FilterError:
        if at == len(self.text):
            return self._error("the string has no end; a double quote is missing", start)
        if self.text[at] == "\\":
            escapes = r"\" \\ \/ \b \f \n \r \t, or \u and 4 hex digits"
            return self._error(f"in a string a backslash begins one of {escapes}", at)
        return self._error("a control character in a string is written as an escape, such as \\n or \\u0001", at)

    def _joint(self) -> str | None:
        spaced = self._skip_space()
        if self.at == len(self.text):
            return None
        word = self._word()
        if not spaced:
            raise self._error(f"a space, or the end, is expected before {self._found()}")
        if word not in ("and", "or"):
            raise self._error(f"`and`, `or` or the end is expected, not {self._found()}")
        self.at += len(word)
        return word

    def _skip_space(self) -> bool:
        match = _SPACE.match(self.text, self.at)
        assert match is not None
        self.at = match.end()
        return bool(match.group())

    def _word(self) -> str:
        match = _WORD.match(self.text, self.at)
        return match.group() if match else ""

    def _found(self) -> str:
        if self.at == len(self.text):
            return "the end"
        return f"`{_shown(self._word() or self.text[self.at])}`"

    def _error(self, message: str, at: int | None = None) -> FilterError:
        return FilterError(message, self.text, self.at if at is None else at)


def _shown(word: str) -> str:
    short = word if len(word) <= 30 else word[:30] + "…"
    return short if short.isprintable() else ascii(short)[1:-1]
