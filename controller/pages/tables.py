"""Tables of a page: numbers are written for people and stand right, None is a dash."""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup

from controller.audit.report.svg import element
from controller.text import clean, count

NOTHING = "–"


def table(header: Sequence[str], rows: Sequence[Sequence[object]], words: bool = False) -> Markup:
    """The first column names the rows. With `words` long cells are broken into lines instead of being cut short."""
    are_numbers = [any(_is_number(row[place]) for row in rows if place < len(row)) for place in range(len(header))]
    head = element(
        "tr", *[element("th", clean(name), class_=_side(right)) for name, right in _pairs(header, are_numbers)]
    )
    body = [element("tr", *[_cell(value, right) for value, right in _pairs(row, are_numbers)]) for row in rows]
    made = element("table", element("thead", head), element("tbody", *body))
    # Wide tables scroll by themselves, so that the page does not.
    return element("div", made, class_="scroll words" if words else "scroll", tabindex=0, role="group")


def facts(pairs: Sequence[tuple[str, object]]) -> Markup:
    """A short list of names and values."""
    rows = [element("div", element("dt", clean(name)), element("dd", written(value))) for name, value in pairs]
    return element("dl", *rows, class_="facts")


def written(value: object) -> Markup | str:
    if value is None:
        return NOTHING
    if isinstance(value, Markup):
        return value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return count(value)
    if isinstance(value, float):
        return number(value)
    return clean(value)


def number(value: float) -> str:
    """About three digits, however large or small."""
    if not math.isfinite(value):
        return NOTHING
    if value == 0 or abs(value) >= 100:
        return count(round(value))
    return f"{value:.3g}"


def _pairs(cells: Sequence[object], are_numbers: Sequence[bool]) -> list[tuple[object, bool]]:
    return [(cell, place < len(are_numbers) and are_numbers[place]) for place, cell in enumerate(cells)]


def _cell(value: object, right: bool) -> Markup:
    return element("td", written(value), class_=_side(right))


def _side(right: bool) -> str | None:
    return "number" if right else None


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
