"""From a pattern's text to its steps, as written; nothing is simplified here."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from node.core.filters.errors import FilterError
from node.core.filters.xpath.names import NAME, NAME_LENGTH_MAX, NO_CHARACTER

ANY = "*"
# Covering and matching cost at most this squared, and this times the document.
STEPS_MAX = 128
TESTS_MAX = 128
TEXT_LENGTH_MAX = 1 << 16

_AXIS = re.compile("//?")
_SPACE = re.compile(r"\s")


@dataclass(slots=True)
class Written:
    """One step with what stands in its predicates; the step that follows it is the last child."""

    is_deep: bool
    name: str
    attributes: list[tuple[str, str | None]] = field(default_factory=list)
    values: list[str] = field(default_factory=list)
    children: list[Written] = field(default_factory=list)


def read(text: str) -> Written:
    return _Reader(text).pattern()


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.steps = 0
        self.tests = 0

    def pattern(self) -> Written:
        if len(self.text) > TEXT_LENGTH_MAX:
            raise self._error(f"a pattern has at most {TEXT_LENGTH_MAX} characters", TEXT_LENGTH_MAX)
        if not self.text.startswith("/"):
            raise self._error(f"a pattern begins with `/` or `//`, not with {self._found()}")
        top = self._path(self._axis() == "//")
        if self.at < len(self.text):
            raise self._error(f"`/`, `//`, `[` or the end is expected, not {self._found()}{self._hint()}")
        return top

    def _path(self, is_deep: bool) -> Written:
        first = last = self._step(is_deep)
        while self.text.startswith("/", self.at):
            step = self._step(self._axis() == "//")
            last.children.append(step)
            last = step
        return first

    def _axis(self) -> str:
        match = _AXIS.match(self.text, self.at)
        assert match is not None
        self.at = match.end()
        return match.group()

    def _step(self, is_deep: bool) -> Written:
        self.steps += 1
        if self.steps > STEPS_MAX:
            raise self._error(f"a pattern has at most {STEPS_MAX} steps")
        if self.text.startswith(ANY, self.at):
            self.at += 1
            step = Written(is_deep, ANY)
        else:
            step = Written(is_deep, self._name("the name of an element or `*`"))
        while self.text.startswith("[", self.at):
            self.at += 1
            self._predicate(step)
        return step

    def _predicate(self, step: Written) -> None:
        if self.text.startswith("@", self.at):
            self._count_test()
            self.at += 1
            name = self._name("the name of an attribute")
            step.attributes.append((name, self._value() if self.text.startswith("=", self.at) else None))
        elif self.text.startswith(".//", self.at):
            self.at += 3
            step.children.append(self._path(is_deep=True))
        elif self.text.startswith(".", self.at):
            self._count_test()
            self.at += 1
            if not self.text.startswith("=", self.at):
                raise self._error(f"after `.` comes `//` or `=`, not {self._found()}")
            step.values.append(self._value())
        elif self.text.startswith("/", self.at):
            raise self._error("a predicate speaks of what is below its step: `[b]` or `[.//b]`, not `[/b]` or `[//b]`")
        else:
            step.children.append(self._path(is_deep=False))
        if not self.text.startswith("]", self.at):
            raise self._error(f"`]` is expected, not {self._found()}{self._hint()}")
        self.at += 1

    def _count_test(self) -> None:
        self.tests += 1
        if self.tests > TESTS_MAX:
            raise self._error(f"a pattern has at most {TESTS_MAX} tests of attributes and texts")

    def _name(self, expected: str) -> str:
        match = NAME.match(self.text, self.at)
        if match is None:
            raise self._error(f"{expected} is expected, not {self._found()}{self._hint()}")
        if len(match.group()) > NAME_LENGTH_MAX:
            raise self._error(f"a name has at most {NAME_LENGTH_MAX} characters")
        self.at = match.end()
        return match.group()

    def _value(self) -> str:
        """What follows a `=`."""
        self.at += 1
        start = self.at
        if not self.text.startswith('"', start):
            raise self._error(f"after `=` a text in double quotes is expected, not {self._found()}{self._hint()}")
        end = self.text.find('"', start + 1)
        if end < 0:
            raise self._error("the text has no end; a double quote is missing")
        wrong = NO_CHARACTER.search(self.text, start + 1, end)
        if wrong is not None:
            raise self._error("no XML document has this character", wrong.start())
        self.at = end + 1
        return self.text[start + 1 : end]

    def _hint(self) -> str:
        rest = self.text[self.at :]
        before = self.text[: self.at]
        if rest.startswith("@"):
            return "; an attribute stands in its own predicate, as in `[b[@x]]`"
        if rest.startswith("="):
            return '; a text is compared in its own predicate, as in `[b[.="v"]]`'
        if rest.startswith(":"):
            return "; a name has no colon, there are no namespaces"
        if rest.startswith("."):
            return '; `.` stands only in `[.//b]` and `[.="v"]`'
        if rest.startswith("/") and before.endswith("/"):
            return "; a step begins with `/` or `//`"
        if _SPACE.match(rest):
            return "; spaces stand only between quotes"
        return ""

    def _found(self) -> str:
        if self.at == len(self.text):
            return "the end"
        char = self.text[self.at]
        return f"`{char if char.isprintable() else ascii(char)[1:-1]}`"

    def _error(self, message: str, at: int | None = None) -> FilterError:
        return FilterError(message, self.text, self.at if at is None else at)
