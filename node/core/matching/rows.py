"""What a row is: a bit for each slot of a table. Small tables hold them in one way, large ones in another."""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left, bisect_right
from typing import Any, Generic, TypeVar

Row = TypeVar("Row")


class Bounds:
    """Slots and the bound of each, in any order."""

    __slots__ = ("slots", "values")

    def __init__(self) -> None:
        self.values: list[Any] = []
        self.slots: list[int] = []

    def add(self, value: Any, slot: int) -> None:
        self.values.append(value)
        self.slots.append(slot)

    def sort(self) -> None:
        values, slots = self.values, self.slots
        order = sorted(range(len(values)), key=values.__getitem__)
        self.values = [values[at] for at in order]
        self.slots = [slots[at] for at in order]


class Ladder(ABC, Generic[Row]):
    """Slots in the order of their bounds: the row of those up to any place, without going through all.

    Bounds are compared as Python does, exactly: integers and floats by value, strings by code point.
    """

    def __init__(self, bounds: Bounds) -> None:
        bounds.sort()
        self._bounds = bounds.values

    def below(self, value: Any) -> int:
        """How many have a bound that is less than this value."""
        return bisect_left(self._bounds, value)

    def until(self, value: Any) -> int:
        """How many have a bound that is no more than this value."""
        return bisect_right(self._bounds, value)

    @abstractmethod
    def row(self, count: int) -> Row:
        """The base and the first `count` slots."""


class Rows(ABC, Generic[Row]):
    """Makes rows of one width. What it returns is nobody else's; a row that it is given first may become the answer."""

    @abstractmethod
    def everyone(self) -> Row: ...

    @abstractmethod
    def row(self, slots: list[int]) -> Row: ...

    @abstractmethod
    def group(self, slots: list[int]) -> Any:
        """The slots in the form in which they are put into a row soonest, if that does not take much room."""

    @abstractmethod
    def is_row(self, group: Any) -> bool:
        """Whether it is a row already."""

    @abstractmethod
    def plus(self, row: Row, group: Any) -> Row: ...

    @abstractmethod
    def minus(self, row: Row, group: Any) -> Row: ...

    @abstractmethod
    def both(self, row: Row, other: Row) -> Row:
        """What they have in common; the other one stays as it is."""

    @abstractmethod
    def copy(self, row: Row) -> Row: ...

    @abstractmethod
    def ladder(self, bounds: Bounds, base: Row) -> Ladder[Row]:
        """`base` belongs to every row of it, and has none of the slots."""
