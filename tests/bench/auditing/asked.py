"""What is said and asked in the generated logs: a small market, with filters of every operator; and who matches what.

That is decided by masks over columns, with neither the brokers' matcher nor the audit's.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

import numpy as np

Value = str | int | float | bool
Content = dict[str, Value]
Mask = np.ndarray[Any, np.dtype[np.bool_]]

WORDS = {
    "class": ("stock", "bond", "fund", "metal", "grain"),
    "symbol": ("IBM", "IBX", "INTC", "SAP", "SAN", "SIE", "MSFT", "MSCI", "ORCL", "ORAN", "BASF", "BMW", "ÜNI", 'A"B'),
}  # fmt: skip
NUMBERS = {"price": 10_000, "volume": 10_000, "yield": 100}
NAMES = (*WORDS, *NUMBERS, "urgent")
WORD_OPERATORS = ("=", "=", "=", "!=", "prefix", "suffix", "contains", "<", ">=")
DISJUNCTIONS, REPEATED, PRESENT = 0.08, 0.25, 0.8
COMPARED: dict[str, Callable[[Any, Any], Any]] = {
    "=": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "prefix": str.startswith,
    "suffix": str.endswith,
    "contains": lambda a, b: b in a,
}


class Constraint(NamedTuple):
    name: str
    op: str
    value: Value

    def __str__(self) -> str:
        return f"{self.name} {self.op} {json.dumps(self.value, ensure_ascii=False)}"


Filter = tuple[tuple[Constraint, ...], ...]


def text(asked: Filter) -> str:
    return " or ".join(" and ".join(map(str, conjunction)) for conjunction in asked)


def content(random: Random) -> Content:
    said: Content = {name: random.choice(words) for name, words in WORDS.items() if random.random() < PRESENT}
    for name, highest in NUMBERS.items():
        if random.random() < PRESENT:
            said[name] = random.randrange(highest) + random.choice((0, 0, 0, 0.5))
    if random.random() < PRESENT:
        # Now and then a value of another kind, which nothing that is usually asked of it may match.
        said["urgent"] = random.choice((True, False, False, "perhaps"))
    return said


class Interests:
    """Filters that about one publication in a hundred matches; some are asked for again."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._asked: list[Filter] = []

    def draw(self) -> Filter:
        random = self._random
        if self._asked and random.random() < REPEATED:
            return random.choice(self._asked)
        asked = tuple(self._conjunction() for _ in range(2 if random.random() < DISJUNCTIONS else 1))
        self._asked.append(asked)
        return asked

    def _conjunction(self) -> tuple[Constraint, ...]:
        random = self._random
        made: list[Constraint] = []
        share = 1.0
        for name in random.sample(NAMES, 4):
            if share < 0.02:
                break
            if name in WORDS:
                word, op = random.choice(WORDS[name]), random.choice(WORD_OPERATORS)
                made.append(Constraint(name, op, word[:1] if op in ("prefix", "contains") else word))
                share *= 0.3
            elif name in NUMBERS:
                highest, width = NUMBERS[name], random.choice((0.02, 0.05, 0.1))
                low = round(highest * random.random() * (1 - width))
                made += [Constraint(name, ">=", low), Constraint(name, "<", low + round(highest * width) + 1)]
                share *= width
            else:
                made.append(Constraint(name, "=", True))
                share *= 0.25
        return tuple(made)


class Columns:
    """The contents of a batch by attribute, and which of them satisfy a constraint."""

    def __init__(self, contents: list[Content]) -> None:
        self.size = len(contents)
        self._values = {name: [content.get(name) for content in contents] for name in NAMES}
        self._numbers = {
            name: np.array([np.nan if isinstance(v, str) or v is None else v for v in self._values[name]], dtype=float)
            for name in NUMBERS
        }
        self._masks: dict[Constraint, Mask] = {}

    def matched(self, asked: Filter) -> list[int]:
        found = np.zeros(self.size, dtype=bool)
        for conjunction in asked:
            all_hold = np.ones(self.size, dtype=bool)
            for constraint in conjunction:
                if constraint not in self._masks:
                    self._masks[constraint] = self._mask(constraint)
                all_hold &= self._masks[constraint]
            found |= all_hold
        return np.flatnonzero(found).tolist()

    def _mask(self, constraint: Constraint) -> Mask:
        name, op, wanted = constraint
        compare = COMPARED[op]
        if name in NUMBERS:
            return compare(self._numbers[name], wanted)  # type: ignore[no-any-return]
        kind = type(wanted)
        answers = {value: type(value) is kind and bool(compare(value, wanted)) for value in set(self._values[name])}
        return np.array([answers[value] for value in self._values[name]])
