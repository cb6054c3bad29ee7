"""How far a long piece of work is: bars for someone who watches, a line now and then for a file. Always stderr."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol, TextIO

from rich.console import Console
from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as RichProgress

PLAIN_INTERVAL_S = 2.0


class Bar(Protocol):
    def to(self, done: float, note: str = "") -> None:
        """So much is done; a note may say what is going on."""

    def advance(self, note: str = "") -> None: ...


class Progress(Protocol):
    def say(self, text: str) -> None:
        """A line that stays."""

    @contextmanager
    def bar(self, title: str, total: float | None = None) -> Iterator[Bar]:
        """Work that is under way; without a total nobody knows how long it takes."""
        yield from ()


class _RichBar:
    def __init__(self, progress: RichProgress, title: str, total: float | None) -> None:
        self._progress = progress
        self._task = progress.add_task(title, total=total, note="")

    def to(self, done: float, note: str = "") -> None:
        self._progress.update(self._task, completed=done, note=note)

    def advance(self, note: str = "") -> None:
        self._progress.update(self._task, advance=1, note=note)


class TerminalProgress:
    def __init__(self, console: Console) -> None:
        self._console = console

    def say(self, text: str) -> None:
        self._console.print(text, highlight=False, markup=False)

    @contextmanager
    def bar(self, title: str, total: float | None = None) -> Iterator[Bar]:
        columns = (
            SpinnerColumn(),
            TextColumn("{task.description:<12}", markup=False),
            BarColumn(bar_width=24),
            TimeElapsedColumn(),
            TextColumn("{task.fields[note]}", markup=False),
        )
        with RichProgress(*columns, console=self._console, transient=True) as progress:
            yield _RichBar(progress, title, total)


class _PlainBar:
    def __init__(self, say: Callable[[str], None], title: str, total: float | None, now: Callable[[], float]) -> None:
        self._say, self._title, self._total, self._now = say, title, total, now
        self._done, self._note = 0.0, ""
        self._said_at: float | None = None
        self._finished = False
        self._lock = threading.Lock()

    def to(self, done: float, note: str = "") -> None:
        with self._lock:
            self._done, self._note = done, note
            self._tell()

    def advance(self, note: str = "") -> None:
        with self._lock:
            self._done, self._note = self._done + 1, note
            self._tell()

    def _tell(self) -> None:
        just_finished = not self._finished and self._total is not None and self._done >= self._total
        if self._said_at is not None and not just_finished and self._now() - self._said_at < PLAIN_INTERVAL_S:
            return
        self._finished = self._finished or just_finished
        self._said_at = self._now()
        far = f" {self._done:.0f}" + (f"/{self._total:.0f}" if self._total is not None else "")
        self._say(f"{self._title}{far}" + (f"  {self._note}" if self._note else ""))


class PlainProgress:
    def __init__(self, stream: TextIO, now: Callable[[], float] = time.monotonic) -> None:
        self._stream, self._now = stream, now

    def say(self, text: str) -> None:
        print(text, file=self._stream, flush=True)

    @contextmanager
    def bar(self, title: str, total: float | None = None) -> Iterator[Bar]:
        yield _PlainBar(self.say, title, total, self._now)


class Silent:
    """For what nobody watches, or what is told elsewhere."""

    def say(self, text: str) -> None:
        pass

    @contextmanager
    def bar(self, title: str, total: float | None = None) -> Iterator[Bar]:
        yield self

    def to(self, done: float, note: str = "") -> None:
        pass

    def advance(self, note: str = "") -> None:
        pass


def for_stderr() -> Progress:
    console = Console(stderr=True)
    return TerminalProgress(console) if console.is_terminal else PlainProgress(sys.stderr)
