"""Seeded filters and contents: about 10 attributes a message, 2-8 constraints a filter."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import NamedTuple

Attributes = dict[str, str | int | float | bool]
Test = Callable[[Attributes], bool]

NUMBERS = tuple(f"n{i}" for i in range(6))
TEXTS = tuple(f"t{i}" for i in range(6))
WORDS = tuple(a + b for a in ("al", "be", "ga", "de", "ep") for b in ("pha", "ta", "mma", "lta", "silon"))
PRESENT = 10 / 12


class Wanted(NamedTuple):
    text: str
    test: Test
    """The same as plain Python: what a loop over filters costs if each were as cheap as can be."""


def filters(count: int, seed: int = 1) -> list[Wanted]:
    random = Random(seed)
    return [_filter(random) for _ in range(count)]


def texts(count: int, seed: int = 1, only_equality: bool = False) -> list[str]:
    """The texts alone, which are made sooner; `only_equality`: every constraint is `name = value`."""
    random = Random(seed)
    return [" and ".join(text for text, _ in _pairs(random, _names(random), only_equality)) for _ in range(count)]


def _filter(random: Random) -> Wanted:
    names = _names(random)
    pairs = _pairs(random, names)
    source = " and ".join(f"{name!r} in c and {python}" for name, (_, python) in zip(names, pairs, strict=True))
    return Wanted(" and ".join(text for text, _ in pairs), eval(f"lambda c: {source}"))


def _names(random: Random) -> list[str]:
    return random.sample(NUMBERS + TEXTS, random.randint(2, 8))


def _pairs(random: Random, names: list[str], only_equality: bool = False) -> list[tuple[str, str]]:
    return [(_number if name in NUMBERS else _text)(random, name, only_equality) for name in names]


def _number(random: Random, name: str, only_equality: bool) -> tuple[str, str]:
    """The constraint in our language and in Python's."""
    operators = (("<", 600), (">", 400), (">=", 300), ("<=", 700), ("!=", 500), ("=", 500))
    operator, value = random.choice(operators[-1:] if only_equality else operators)
    value = max(0, value + random.randint(-300, 300))
    return f"{name} {operator} {value}", f"c[{name!r}] {'==' if operator == '=' else operator} {value}"


def _text(random: Random, name: str, only_equality: bool) -> tuple[str, str]:
    word = random.choice(WORDS)
    operators = (("=", word), ("prefix", word[:2]), ("contains", word[-2:]), ("!=", word))
    operator, value = random.choice(operators[:1] if only_equality else operators)
    python = {
        "=": f"c[{name!r}] == {value!r}",
        "!=": f"c[{name!r}] != {value!r}",
        "prefix": f"c[{name!r}].startswith({value!r})",
        "contains": f"{value!r} in c[{name!r}]",
    }[operator]
    return f"{name} {operator} {json.dumps(value)}", python


def contents(count: int, seed: int = 2) -> list[Attributes]:
    random = Random(seed)
    found = []
    for _ in range(count):
        every: Attributes = {name: random.randrange(1000) for name in NUMBERS}
        every |= {name: random.choice(WORDS) for name in TEXTS}
        found.append({name: value for name, value in every.items() if random.random() < PRESENT})
    return found
