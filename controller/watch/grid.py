"""Aligned columns as lines of text, each exactly one line: the ones that matter least give way on a narrow terminal."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

GAP = 2
SEPARATOR = " · "


class Column(Struct, frozen=True):
    title: str
    rank: int = 0
    """The higher, the sooner it gives way; 0 stays."""
    right: bool = False
    most: int = 200
    """Longer cells are cut."""


def grid(columns: Sequence[Column], rows: Sequence[Sequence[Text]], width: int) -> list[Text]:
    """A heading and a line for each row; a column that is empty in all rows is left out."""
    widths = [_width(column, [row[place] for row in rows]) for place, column in enumerate(columns)]
    kept = [place for place, column in enumerate(columns) if column.rank == 0 or any(row[place].plain for row in rows)]
    while len(kept) > 1 and _total(widths, kept) > width:
        least = max(kept, key=lambda place: columns[place].rank)
        if columns[least].rank == 0:
            break
        kept.remove(least)
    head = _line([Text(columns[place].title, style="dim") for place in kept], columns, widths, kept, width)
    return [head, *(_line([row[place] for place in kept], columns, widths, kept, width) for row in rows)]


class Fitted:
    """A grid as wide as the terminal is."""

    def __init__(self, columns: Sequence[Column], rows: Sequence[Sequence[Text]]) -> None:
        self._columns, self._rows = columns, rows

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in grid(self._columns, self._rows, options.max_width):
            line.end = "\n"
            yield line


def packed(items: Sequence[Text], width: int) -> list[Text]:
    """One after the other, in as few lines as hold them."""
    lines: list[Text] = []
    for item in items:
        if lines and lines[-1].cell_len + len(SEPARATOR) + item.cell_len <= width:
            lines[-1].append(SEPARATOR, style="dim").append_text(item)
        else:
            lines.append(item.copy())
    for line in lines:
        line.truncate(width, overflow="ellipsis")
    return lines


def beside(left: Sequence[Text], right: Sequence[Text], left_width: int, gap: int) -> list[Text]:
    lines = []
    for place in range(max(len(left), len(right))):
        line = left[place].copy() if place < len(left) else Text()
        line.truncate(left_width, overflow="ellipsis", pad=True)
        line.append(" " * gap)
        lines.append(line.append_text(right[place]) if place < len(right) else line)
    return lines


def _width(column: Column, cells: Sequence[Text]) -> int:
    return min(column.most, max((cell.cell_len for cell in [Text(column.title), *cells]), default=0))


def _total(widths: Sequence[int], kept: Sequence[int]) -> int:
    return sum(widths[place] for place in kept) + GAP * (len(kept) - 1)


def _line(
    cells: Sequence[Text], columns: Sequence[Column], widths: Sequence[int], kept: Sequence[int], width: int
) -> Text:
    line = Text(no_wrap=True, end="")
    for cell, place in zip(cells, kept, strict=True):
        shown = cell.copy()
        shown.truncate(widths[place], overflow="ellipsis")
        space = " " * (widths[place] - cell_len(shown.plain))
        if line.plain:
            line.append(" " * GAP)
        line.append_text(Text(space) + shown if columns[place].right else shown + Text(space))
    line.rstrip()
    line.truncate(width, overflow="ellipsis")
    return line
