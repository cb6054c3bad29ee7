"""Each conjunction waits under one constraint: an equality if it has one, else the name that fewest wait under."""

from __future__ import annotations

from node.core.filters import Filter
from node.core.filters.attr.conjunction import Conjunction, Test
from node.core.filters.attr.filter import AttrFilter
from node.core.matching import Holder
from node.core.matching.layers import Newcomers
from node.core.matching.packed import Query

# A name; or name, value and whether that is a boolean: True == 1 in Python. Empty for what is true of everything.
Place = str | tuple[str, object, bool]
_EVERYWHERE: Place = ""


class Waiting(Newcomers[Query, Holder]):
    def __init__(self) -> None:
        self._numbers: dict[Filter, int] = {}
        self._holders: dict[int, Holder] = {}
        self._places: dict[int, list[Place]] = {}
        # Place -> (number of a filter, which of its conjunctions) -> what is left to test there.
        self._at: dict[Place, dict[tuple[int, int], tuple[tuple[str, Test], ...]]] = {}
        self._next_number = 0

    def __len__(self) -> int:
        return len(self._numbers)

    def __contains__(self, filter: Filter) -> bool:
        return filter in self._numbers

    def items(self) -> list[tuple[Filter, Holder]]:
        return [(filter, self._holders[number]) for filter, number in self._numbers.items()]

    def add(self, filter: Filter, holder: Holder) -> None:
        assert isinstance(filter, AttrFilter)
        number = self._numbers[filter] = self._next_number
        self._next_number += 1
        self._holders[number] = holder
        places = self._places[number] = []
        for nth, conjunction in enumerate(filter.conjunctions):
            place, tests = self._choose(conjunction)
            places.append(place)
            self._at.setdefault(place, {})[number, nth] = tests

    def replace(self, filter: Filter, holder: Holder) -> None:
        self._holders[self._numbers[filter]] = holder

    def remove(self, filter: Filter) -> None:
        number = self._numbers.pop(filter)
        del self._holders[number]
        for nth, place in enumerate(self._places.pop(number)):
            del self._at[place][number, nth]
            if not self._at[place]:
                del self._at[place]

    def match(self, query: Query) -> list[Holder]:
        content = query.content
        at, value_of = self._at, content.get
        places: list[Place] = [_EVERYWHERE, *content]
        places += [(name, value, value.__class__ is bool) for name, value in content.items()]
        found: list[int] = []
        for place in places:
            if place not in at:
                continue
            for (number, _), tests in at[place].items():
                for name, test in tests:
                    value = value_of(name)
                    if value is None or not test(value):
                        break
                else:
                    found.append(number)
        found.sort()
        holders = self._holders
        # Several conjunctions of one filter may match: then its number stands there twice, side by side.
        return [holders[number] for number in dict.fromkeys(found)]

    def _choose(self, conjunction: Conjunction) -> tuple[Place, tuple[tuple[str, Test], ...]]:
        """Where it waits, and what is left to test there."""
        singles: list[Place] = []
        names: list[Place] = []
        for name, values in conjunction.sets.items():
            if isinstance(values, bool):
                singles.append((name, values, True))
            elif values is not None and values.is_single:
                singles.append((name, values.low, False))
            else:
                names.append(name)
        place = min(singles or names or [_EVERYWHERE], key=lambda each: len(self._at.get(each, ())))
        if isinstance(place, tuple):
            return place, tuple(pair for pair in conjunction.tests if pair[0] != place[0])
        return place, conjunction.tests
