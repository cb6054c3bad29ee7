"""The runs of a series while they go: a live table for someone who watches, a line for each finished one otherwise."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Protocol

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from controller.campaigns.series import Entry, Series
from controller.progress import Bar, PlainProgress, Progress, Silent, for_stderr

REFRESH_HZ = 4
LINES_BESIDE = 6
STYLES = {"pass": "green", "fail": "bold red", "unknown": "yellow"}


class Board(Protocol):
    def shown(self) -> AbstractContextManager[object]: ...

    def progress(self, entry: Entry) -> Progress:
        """For what one run is doing."""

    def audit(self, entry: Entry) -> Progress:
        """For its audit, which may go on beside the next run."""

    def note(self, entry: Entry, text: str) -> None:
        """What a run in another process is doing."""

    def finished(self, entry: Entry) -> None:
        """Nothing more will be done about it."""


def standing(series: Series) -> str:
    """How far it is, in one line."""
    done = sum(one.state == "done" for one in series.runs)
    counted = Counter(one.verdict for one in series.runs if one.verdict)
    words = [f"{counted[verdict]} {verdict}" for verdict in STYLES if counted[verdict]]
    return f"{done} of {len(series.runs)} runs done" + (f": {', '.join(words)}" if words else "")


def result(entry: Entry) -> str:
    if entry.state != "done":
        return entry.outcome or entry.state
    return entry.verdict or entry.outcome or entry.state


class SingleBoard:
    """One run has all the room for itself."""

    def __init__(self) -> None:
        self._progress = for_stderr()

    def shown(self) -> AbstractContextManager[object]:
        return nullcontext()

    def progress(self, entry: Entry) -> Progress:
        return self._progress

    def audit(self, entry: Entry) -> Progress:
        return self._progress

    def note(self, entry: Entry, text: str) -> None:
        self._progress.say(text)

    def finished(self, entry: Entry) -> None:
        pass


class PlainBoard:
    def __init__(self, series: Series) -> None:
        self._series = series
        self._progress = PlainProgress(sys.stderr)
        self._finished = 0

    def shown(self) -> AbstractContextManager[object]:
        return nullcontext()

    def progress(self, entry: Entry) -> Progress:
        return self._progress

    def audit(self, entry: Entry) -> Progress:
        return Silent()

    def note(self, entry: Entry, text: str) -> None:
        """Several at once would drown each other: the finished ones are told."""

    def finished(self, entry: Entry) -> None:
        self._finished += 1
        why = f" ({entry.outcome_why})" if entry.outcome_why else ""
        told = f"{self._finished}/{len(self._series.runs)} {entry.label}: {result(entry)}{why}"
        self._progress.say(f"{told}  {self._series.directory.parent.name}/{entry.directory}")


class LiveBoard:
    def __init__(self, series: Series, console: Console) -> None:
        self._series = series
        self._console = console
        self._notes: dict[int, str] = {}
        self._live = Live(get_renderable=self._table, console=console, refresh_per_second=REFRESH_HZ)

    def shown(self) -> AbstractContextManager[object]:
        return self._live

    def progress(self, entry: Entry) -> Progress:
        return _Noted(self, entry)

    def audit(self, entry: Entry) -> Progress:
        return _Noted(self, entry)

    def note(self, entry: Entry, text: str) -> None:
        self._notes[entry.number] = text

    def finished(self, entry: Entry) -> None:
        self._notes.pop(entry.number, None)

    def _table(self) -> Table:
        table = Table(box=None, pad_edge=False, header_style="bold", caption=standing(self._series))
        table.caption_justify = "left"
        for column in ("run", "", "result", "now"):
            table.add_column(column, overflow="ellipsis", no_wrap=True)
        begun = [one for one in self._series.runs if one.directory is not None]
        for one in begun[-max(1, self._console.height - LINES_BESIDE) :]:
            told = result(one)
            note = self._notes.get(one.number, one.outcome_why)
            table.add_row(str(one.number), one.label, Text(told, style=STYLES.get(told, "")), Text(note))
        return table


class _Noted:
    """Shows what a run says in its row."""

    def __init__(self, board: LiveBoard, entry: Entry) -> None:
        self._board, self._entry = board, entry

    def say(self, text: str) -> None:
        self._board.note(self._entry, text)

    @contextmanager
    def bar(self, title: str, total: float | None = None) -> Iterator[Bar]:
        yield _NotedBar(self, title, total)


class _NotedBar:
    def __init__(self, noted: _Noted, title: str, total: float | None) -> None:
        self._noted, self._title, self._total = noted, title, total
        self._done = 0.0

    def to(self, done: float, note: str = "") -> None:
        self._done = done
        far = f"{self._title} {done:.0f}" + (f"/{self._total:.0f}" if self._total is not None else "")
        self._noted.say(f"{far}  {note}".rstrip())

    def advance(self, note: str = "") -> None:
        self.to(self._done + 1, note)


def for_series(series: Series) -> Board:
    if len(series.runs) == 1:
        return SingleBoard()
    console = Console(stderr=True)
    return LiveBoard(series, console) if console.is_terminal else PlainBoard(series)
