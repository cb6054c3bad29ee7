"""Each conjunction waits under one constraint: an equality if it has one, else the name that fewest wait under."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from node.core.filters import Filter
from node.core.filters.attr.conjunction import Conjunction, Test
from node.core.filters.attr.filter import AttrFilter

Mapping = TypeVar("Mapping", bound=dict[Any, Any])
# A name; or name, value and whether that is a boolean: True == 1 in Python. Empty for what is true of everything.
Place = str | tuple[str, object, bool]
_EVERYWHERE: Place = ""


class Waiting(Generic[Mapping]):
    def __init__(self) -> None:
        self._places: dict[Filter, list[tuple[Place, int]]] = {}
        self._at: dict[Place, dict[int, tuple[tuple[tuple[str, Test], ...], Mapping]]] = {}
        self._next_number = 0

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, filter: Filter) -> bool:
        return filter in self._places

    def add(self, filter: AttrFilter, holders: Mapping) -> None:
        places = self._places[filter] = []
        for conjunction in filter.conjunctions:
            place, tests = self._choose(conjunction)
            places.append((place, self._next_number))
            self._at.setdefault(place, {})[self._next_number] = (tests, holders)
            self._next_number += 1

    def remove(self, filter: Filter) -> None:
        for place, number in self._places.pop(filter):
            del self._at[place][number]
            if not self._at[place]:
                del self._at[place]

    def collect(self, content: dict[str, Any], found: Mapping) -> None:
        at, value_of = self._at, content.get
        places: list[Place] = [_EVERYWHERE, *content]
        places += [(name, value, value.__class__ is bool) for name, value in content.items()]
        for place in places:
            if place not in at:
                continue
            for tests, holders in at[place].values():
                for name, test in tests:
                    value = value_of(name)
                    if value is None or not test(value):
                        break
                else:
                    found.update(holders)

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
