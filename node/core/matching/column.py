"""What the conjunctions of a table ask of one name. Each conjunction has a slot, that is a bit of every row."""

from __future__ import annotations

from typing import Any, Generic

from node.core.filters.attr.conjunction import ValueSet
from node.core.filters.attr.numbers import NumberSet
from node.core.matching import sets
from node.core.matching.rows import Row, Rows
from node.core.matching.sets import Sets


class Asked:
    """The sets of values as they come, slot by slot."""

    __slots__ = ("_flags", "_numbers", "_strings", "_whatever")

    def __init__(self) -> None:
        self._whatever: list[int] = []
        self._flags: tuple[list[int], list[int]] = ([], [])
        self._numbers = sets.Asked()
        self._strings = sets.Asked()

    def add(self, slot: int, values: ValueSet) -> None:
        if values is None:
            self._whatever.append(slot)
        elif isinstance(values, bool):
            self._flags[values].append(slot)
        elif isinstance(values, NumberSet):
            self._numbers.add_numbers(slot, values)
        else:
            self._strings.add_strings(slot, values)

    def column(self, rows: Rows[Row], kept_max: int) -> Column[Row]:
        """All have been added; `kept_max`: how many rows it may remember."""
        spoken = [*self._flags[False], *self._flags[True], *self._numbers.slots(), *self._strings.slots()]
        always = rows.minus(rows.everyone(), rows.group(spoken))
        return Column(
            rows.minus(rows.copy(always), rows.group(self._whatever)),
            tuple(rows.plus(rows.copy(always), rows.group(slots)) for slots in self._flags),
            Sets(rows, self._numbers, always),
            Sets(rows, self._strings, always),
            kept_max,
        )


class Column(Generic[Row]):
    """Rows of those that a value satisfies, or that do not ask.

    They are remembered in two generations; when the younger is full, the elder goes.
    """

    __slots__ = ("_elder", "_numbers", "_strings", "_younger_max", "flags", "rows", "silent")

    def __init__(
        self, silent: Row, flags: tuple[Row, ...], numbers: Sets[Row], strings: Sets[Row], kept_max: int
    ) -> None:
        self.silent = silent
        """Those that do not speak of this name."""
        self.flags = flags
        """The rows of false and true, which must not be taken for numbers: True == 1."""
        self.rows: dict[Any, Row] = {}
        """What is known of other values: look here before asking `look`."""
        self._elder: dict[Any, Row] = {}
        self._younger_max = kept_max // 2
        self._numbers = numbers
        self._strings = strings

    def look(self, value: Any) -> Row:
        """The row of a value, which is remembered."""
        row = self._elder.get(value)
        if row is None:
            own = self._strings if value.__class__ is str else self._numbers
            row = own.exact_row(value) if own.is_exact else self._make(own, value)
        if len(self.rows) >= self._younger_max:
            self._elder, self.rows = self.rows, {}
        self.rows[value] = row
        return row

    def _make(self, own: Sets[Row], value: Any) -> Row:
        place = own.place(value)
        if not own.is_plain(value):
            return own.row(value, place)
        # Numbers that never come twice still fall between the same bounds.
        key = (own is self._strings, place)
        row = self.rows.get(key)
        if row is None:
            row = self._elder.get(key)
            if row is None:
                row = own.row_at(place)
            self.rows[key] = row
        return row
