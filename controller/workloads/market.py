"""The world of the attribute workload: what publications say, and what subscribers ask for."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from random import Random
from typing import NamedTuple

from controller.workloads.plans import Value

CLASSES = ("stock", "bond", "fund", "metal", "grain")
REGIONS = ("north", "north-east", "east", "south", "south-west", "west")
# A quote, a backslash and a letter beyond ASCII are here because parsers and logs have to survive them.
SYMBOLS = (
    "IBM", "IBX", "INTC", "SAP", "SAN", "SIE", "MSFT", "MSCI", "MMM", "ORCL", "ORAN", "BASF",
    "BAYN", "BMW", "TEF", "TSLA", "TTE", "ÜNI", 'A"B', "C\\D",
)  # fmt: skip


class Constraint(NamedTuple):
    name: str
    operator: str
    value: Value | None
    share: float
    """Roughly how many publications satisfy it."""

    def text(self) -> str:
        if self.value is None:
            return f"{self.name} {self.operator}"
        return f"{self.name} {self.operator} {json.dumps(self.value, ensure_ascii=False)}"


Conjunction = tuple[Constraint, ...]


class Choosy(NamedTuple):
    """When a filter is narrow enough: so few publications match it, or so many attributes are constrained."""

    selectivity: float
    constrained: int


class Attribute(ABC):
    def __init__(self, name: str, present: float) -> None:
        self.name = name
        self.present = present

    @abstractmethod
    def draw(self, random: Random) -> Value: ...

    @abstractmethod
    def constraints(self, random: Random) -> Conjunction: ...

    def _constraint(self, operator: str, value: Value | None, share: float) -> Constraint:
        return Constraint(self.name, operator, value, share * self.present)


class Number(Attribute):
    """Whole numbers below `values`, now and then with a half."""

    def __init__(self, name: str, present: float, values: int) -> None:
        super().__init__(name, present)
        self.values = values

    def draw(self, random: Random) -> Value:
        value = random.randrange(self.values)
        return value + 0.5 if random.random() < 0.2 else value

    def constraints(self, random: Random) -> Conjunction:
        kind = random.random()
        if kind < 0.1:
            return (self._constraint("=", random.randrange(self.values), 0.8 / self.values),)
        if kind < 0.15:
            return (self._constraint("!=", random.randrange(self.values), 1.0),)
        # Few different edges, so that ranges nest and repeat.
        share = random.choice((0.05, 0.1, 0.2, 0.4))
        below, above = random.choice(("<", "<=")), random.choice((">", ">="))
        if kind < 0.4:
            return (self._constraint(below, round(self.values * share), share),)
        if kind < 0.65:
            return (self._constraint(above, round(self.values * (1 - share)), share),)
        low = random.choice((0.1, 0.2, 0.4, 0.6))
        return (
            self._constraint(above, round(self.values * low), 1.0),
            self._constraint(below, round(self.values * (low + share)), share),
        )


class Word(Attribute):
    """One of a few words."""

    def __init__(self, name: str, present: float, words: tuple[str, ...]) -> None:
        super().__init__(name, present)
        self.words = words

    def draw(self, random: Random) -> Value:
        return random.choice(self.words)

    def constraints(self, random: Random) -> Conjunction:
        word = random.choice(self.words)
        middle = len(word) // 2
        operator, value = random.choice(
            (
                ("=", word), ("=", word), ("!=", word), ("prefix", word[:2]), ("prefix", word[:1]),
                ("suffix", word[-1:]), ("contains", word[middle : middle + 1]),
                ("<", word), ("<=", word), (">", word), (">=", word),
            )
        )  # fmt: skip
        hits = sum(_holds(operator, one, value) for one in self.words)
        return (self._constraint(operator, value, hits / len(self.words)),)


class Flag(Attribute):
    def draw(self, random: Random) -> Value:
        return random.random() < 0.3

    def constraints(self, random: Random) -> Conjunction:
        operator, value = random.choice((("=", True), ("!=", False), ("=", False), ("!=", True)))
        return (self._constraint(operator, value, 0.3 if (operator == "=") == value else 0.7),)


def attributes(names: int, values: int) -> tuple[Attribute, ...]:
    """The first `names` attributes; beyond the named ones they are numbers."""
    named: tuple[Attribute, ...] = (
        Number("price", 1.0, values), Word("class", 1.0, CLASSES), Word("symbol", 0.9, SYMBOLS),
        Number("volume", 0.6, values), Flag("urgent", 0.5), Word("region", 0.7, REGIONS),
    )  # fmt: skip
    more = tuple(Number(f"n{index}", 0.5, values) for index in range(len(named) + 1, names + 1))
    return (*named, *more)[:names]


def content(known: tuple[Attribute, ...], random: Random) -> dict[str, Value]:
    drawn: dict[str, Value] = {}
    for attribute in known:
        if random.random() < attribute.present:
            # Now and then a value of another type, which no constraint of the usual type may match.
            drawn[attribute.name] = "unknown" if random.random() < 0.02 else attribute.draw(random)
    return drawn


def conjunction(known: tuple[Attribute, ...], choosy: Choosy, random: Random) -> Conjunction:
    """Constraints on one attribute after the other, until few enough publications are left."""
    made: list[Constraint] = []
    share = 1.0
    for attribute in random.sample(known, min(len(known), choosy.constrained)):
        exists = Constraint(attribute.name, "exists", None, attribute.present)
        added = (exists,) if random.random() < 0.08 else attribute.constraints(random)
        made.extend(added)
        share *= min(one.share for one in added)
        if share <= choosy.selectivity:
            break
    return tuple(made)


def narrowed(wide: Conjunction, known: tuple[Attribute, ...], random: Random) -> Conjunction:
    """A filter that `wide` covers: the same, and one more attribute constrained if there is one left."""
    constrained = {one.name for one in wide}
    free = [attribute for attribute in known if attribute.name not in constrained]
    return (*wide, *random.choice(free).constraints(random)) if free else wide


def text(conjunctions: tuple[Conjunction, ...]) -> str:
    return " or ".join(" and ".join(one.text() for one in each) for each in conjunctions)


def _holds(operator: str, left: str, right: str) -> bool:
    return {
        "=": left == right, "!=": left != right, "<": left < right, "<=": left <= right, ">": left > right,
        ">=": left >= right, "prefix": left.startswith(right), "suffix": left.endswith(right),
        "contains": right in left,
    }[operator]  # fmt: skip
