"""The world of the attribute workload: what publications say, and what can be asked of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from itertools import accumulate
from random import Random
from typing import ClassVar, Literal, NamedTuple

from controller.errors import UsageError
from controller.workloads.constraints import Conjunction, Constraint
from controller.workloads.laws import Law, Spread, distinct, spread
from controller.workloads.plans import Value

CLASSES = ("stock", "bond", "fund", "metal", "grain")
REGIONS = ("north", "north-east", "east", "south", "south-west", "west")
# A quote, a backslash and a letter beyond ASCII are here because parsers and logs have to survive them.
SYMBOLS = (
    "IBM", "IBX", "INTC", "SAP", "SAN", "SIE", "MSFT", "MSCI", "MMM", "ORCL", "ORAN", "BASF",
    "BAYN", "BMW", "TEF", "TSLA", "TTE", "ÜNI", 'A"B', "C\\D",
)  # fmt: skip

Operator = Literal["=", "!=", "<", "<=", ">", ">=", "range", "prefix", "suffix", "contains", "exists"]
"""Those of the language, and `range` for one from a number to another."""
Operators = Mapping[Operator, float]
Vocabulary = Literal["market", "numbers"]

# Few different edges, so that ranges nest and repeat.
EDGES = (0.05, 0.1, 0.2, 0.4)
LOWER_EDGES = (0.1, 0.2, 0.4, 0.6)
HOLDS: dict[str, Callable[[str, str], bool]] = {
    "=": str.__eq__, "!=": str.__ne__, "<": str.__lt__, "<=": str.__le__, ">": str.__gt__, ">=": str.__ge__,
    "prefix": str.startswith, "suffix": str.endswith, "contains": str.__contains__,
}  # fmt: skip


class Attribute(ABC):
    usual: ClassVar[Operators]
    """How often each operator is used where nothing else is wished, in percent."""

    def __init__(self, name: str, present: float) -> None:
        self.name = name
        self.present = present

    def use(self, operators: Operators | None) -> bool:
        """Use these from now on, as far as they can be; False if none of them can."""
        wished = operators or self.usual
        mix = {operator: weight for operator, weight in wished.items() if operator in self.usual and weight}
        self._operators, self._weights = list(mix), list(accumulate(mix.values()))
        return bool(mix)

    def constraints(self, random: Random) -> Conjunction:
        operator = random.choices(self._operators, cum_weights=self._weights)[0]
        if operator == "exists":
            return (Constraint(self.name, operator, None, self.present),)
        return self._constrained(operator, random)

    @abstractmethod
    def draw(self, random: Random) -> Value: ...

    @abstractmethod
    def _constrained(self, operator: Operator, random: Random) -> Conjunction: ...

    def _constraint(self, operator: str, value: Value | None, share: float) -> Constraint:
        return Constraint(self.name, operator, value, share * self.present)


class Number(Attribute):
    """Whole numbers, now and then with a half."""

    usual: ClassVar[Operators] = {
        "=": 9, "!=": 5, "<": 11, "<=": 11, ">": 12, ">=": 12, "range": 32, "exists": 8,
    }  # fmt: skip

    def __init__(self, name: str, present: float, values: Spread, width: float | None) -> None:
        super().__init__(name, present)
        self.values = values.count
        self._spread = values
        self._width = width

    def draw(self, random: Random) -> Value:
        value = self._spread.draw(random)
        return value + 0.5 if random.random() < 0.2 else value

    def _constrained(self, operator: Operator, random: Random) -> Conjunction:
        if operator in ("=", "!="):
            value = self._spread.draw(random)
            hits = 0.8 * self._spread.share(value, value + 1)
            return (self._constraint(operator, value, hits if operator == "=" else 1.0),)
        width = random.choice(EDGES) if self._width is None else self._width
        if operator == "range":
            return self._range(width, random)
        low, high = (0, self.values * width) if operator in ("<", "<=") else (self.values * (1 - width), self.values)
        edge = round(high if operator in ("<", "<=") else low)
        return (self._constraint(operator, edge, self._spread.share(low, high)),)

    def _range(self, width: float, random: Random) -> Conjunction:
        if self._width is None:
            low = round(self.values * random.choice(LOWER_EDGES))
        else:
            # Around a value that comes: where much is said, much is asked.
            room = max(0.0, self.values * (1 - width))
            low = round(min(room, max(0.0, self._spread.draw(random) - self.values * width / 2)))
        high = round(low + self.values * width)
        above, below = random.choice((">", ">=")), random.choice(("<", "<="))
        return (self._constraint(above, low, 1.0), self._constraint(below, high, self._spread.share(low, high)))


class Word(Attribute):
    """One of a few words."""

    usual: ClassVar[Operators] = {
        "=": 17, "!=": 8, "prefix": 17, "suffix": 8, "contains": 9, "<": 8, "<=": 8, ">": 8, ">=": 9, "exists": 8,
    }  # fmt: skip

    def __init__(self, name: str, present: float, words: tuple[str, ...], law: Law) -> None:
        super().__init__(name, present)
        self.words = words
        self._spread = spread(law, len(words))
        self._known: dict[tuple[Operator, str], float] = {}

    def draw(self, random: Random) -> Value:
        return self.words[self._spread.draw(random)]

    def _constrained(self, operator: Operator, random: Random) -> Conjunction:
        word = self.words[self._spread.draw(random)]
        middle = len(word) // 2
        value = {
            "prefix": word[: random.choice((1, 2))], "suffix": word[-1:], "contains": word[middle : middle + 1],
        }.get(operator, word)  # fmt: skip
        return (self._constraint(operator, value, self._hits(operator, value)),)

    def _hits(self, operator: Operator, value: str) -> float:
        """How many publications satisfy it; the same few are asked again and again."""
        if (operator, value) not in self._known:
            hold = [at for at, one in enumerate(self.words) if HOLDS[operator](one, value)]
            self._known[operator, value] = sum(self._spread.share(at, at + 1) for at in hold)
        return self._known[operator, value]


class Flag(Attribute):
    usual: ClassVar[Operators] = {"=": 46, "!=": 46, "exists": 8}

    def draw(self, random: Random) -> Value:
        return random.random() < 0.3

    def _constrained(self, operator: Operator, random: Random) -> Conjunction:
        value = random.random() < 0.5
        return (self._constraint(operator, value, 0.3 if (operator == "=") == value else 0.7),)


class Wishes(NamedTuple):
    """What a workload says of its attributes."""

    vocabulary: Vocabulary = "market"
    names: int = 6
    values: int = 100
    name_law: Law = "uniform"
    value_law: Law = "uniform"
    width: float | None = None
    operators: Operators | None = None
    carried: tuple[int, int] | None = None
    """How many attributes a publication has; by chance, each for itself, if it is not said."""


class Market:
    def __init__(self, wishes: Wishes) -> None:
        self.attributes = _attributes(wishes)
        self._by_name = spread(wishes.name_law, len(self.attributes))
        self._carried = wishes.carried
        if wishes.carried is not None:
            mean = sum(wishes.carried) / 2
            for at, attribute in enumerate(self.attributes):
                attribute.present = min(1.0, 1 - (1 - self._by_name.share(at, at + 1)) ** mean)
        self._askable = [one for one in self.attributes if one.use(wishes.operators)]
        if not self._askable:
            told = ", ".join(wishes.operators or ())
            raise UsageError(f"none of the attributes can be asked for with {told}; add `=`, which all can")
        self._by_asked = spread(wishes.name_law, len(self._askable))

    def content(self, random: Random) -> dict[str, Value]:
        drawn: dict[str, Value] = {}
        for attribute in self._carried_by_one(random):
            # Now and then a value of another type, which no constraint of the usual type may match.
            drawn[attribute.name] = "unknown" if random.random() < 0.02 else attribute.draw(random)
        return drawn

    def _carried_by_one(self, random: Random) -> list[Attribute]:
        if self._carried is None:
            return [one for one in self.attributes if random.random() < one.present]
        return [self.attributes[at] for at in distinct(self._by_name, random.randint(*self._carried), random)]

    def to_ask(self, wanted: int, random: Random) -> list[Attribute]:
        """So many different attributes to be constrained, if there are as many."""
        return [self._askable[at] for at in distinct(self._by_asked, wanted, random)]


def _attributes(wishes: Wishes) -> tuple[Attribute, ...]:
    """The first `names` attributes; beyond the named ones they are numbers."""
    values = spread(wishes.value_law, wishes.values)

    def number(name: str, present: float) -> Number:
        return Number(name, present, values, wishes.width)

    def word(name: str, present: float, words: tuple[str, ...]) -> Word:
        return Word(name, present, words, wishes.value_law)

    named: tuple[Attribute, ...] = (
        number("price", 1.0), word("class", 1.0, CLASSES), word("symbol", 0.9, SYMBOLS),
        number("volume", 0.6), Flag("urgent", 0.5), word("region", 0.7, REGIONS),
    )  # fmt: skip
    if wishes.vocabulary == "numbers":
        named = ()
    more = tuple(number(f"n{index}", 0.5) for index in range(len(named) + 1, wishes.names + 1))
    return (*named, *more)[: wishes.names]
