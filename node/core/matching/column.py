"""What the conjunctions of a table ask of one name. Each conjunction has a slot, that is a bit of every row."""

from __future__ import annotations

from typing import Any

from node.core.filters.attr.conjunction import ValueSet
from node.core.filters.attr.numbers import NumberSet
from node.core.matching import sets
from node.core.matching.bits import bits_of
from node.core.matching.sets import Sets

# Rows are kept in two generations of so many; when the younger is full, the elder goes.
KEPT_ROWS_MAX = 2_048


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

    def column(self, width: int) -> Column:
        """All have been added; `width`: how many slots there are."""
        whatever = bits_of(self._whatever)
        spoken = [*self._flags[False], *self._flags[True], *self._numbers.slots(), *self._strings.slots()]
        silent = (1 << width) - 1 ^ whatever ^ bits_of(spoken)
        always = silent | whatever
        return Column(
            silent,
            (always | bits_of(self._flags[False]), always | bits_of(self._flags[True])),
            Sets(self._numbers, always, width),
            Sets(self._strings, always, width),
        )


class Column:
    """Rows of those that a value satisfies, or that do not ask."""

    __slots__ = ("_elder", "_numbers", "_strings", "flags", "rows", "silent")

    def __init__(self, silent: int, flags: tuple[int, int], numbers: Sets, strings: Sets) -> None:
        self.silent = silent
        """Those that do not speak of this name."""
        self.flags = flags
        """The rows of false and true, which must not be taken for numbers: True == 1."""
        self.rows: dict[Any, int] = {}
        """What is known of other values: look here before asking `look`."""
        self._elder: dict[Any, int] = {}
        self._numbers = numbers
        self._strings = strings

    def look(self, value: Any) -> int:
        """The row of a value, which is remembered."""
        row = self._elder.get(value)
        if row is None:
            row = self._make(value)
        self._remember(value, row)
        return row

    def _make(self, value: Any) -> int:
        is_text = isinstance(value, str)
        own = self._strings if is_text else self._numbers
        if own.is_exact:
            return own.exact_row(value)
        place = own.place(value)
        if not own.is_plain(value):
            return own.row(value, place)
        # Numbers that never come twice still fall between the same bounds.
        key = (is_text, place)
        row = self.rows.get(key, self._elder.get(key))
        if row is None:
            row = own.row_at(place)
            self._remember(key, row)
        return row

    def _remember(self, key: Any, row: int) -> None:
        if len(self.rows) >= KEPT_ROWS_MAX:
            self._elder, self.rows = self.rows, {}
        self.rows[key] = row
