from __future__ import annotations

import io
from collections.abc import Iterator

from rich.console import Console

from controller.progress import PlainProgress, TerminalProgress


def lines_of(moments: list[float], total: float | None) -> list[str]:
    stream = io.StringIO()
    clock: Iterator[float] = iter(moments)
    now = [0.0]
    with PlainProgress(stream, lambda: now[0]).bar("load", total) as bar:
        for moment in clock:
            now[0] = moment
            bar.to(moment, f"at {moment:g}")
    return stream.getvalue().splitlines()


def test_a_plain_line_at_most_every_two_seconds() -> None:
    said = lines_of([tenth / 10 for tenth in range(60)], None)
    assert said == ["load 0  at 0", "load 2  at 2", "load 4  at 4"]


def test_the_end_is_told_once_however_soon_it_comes() -> None:
    assert lines_of([0, 0.1, 0.2, 0.3], 0.2) == ["load 0/0  at 0", "load 0/0  at 0.2"]


def test_advance_counts() -> None:
    stream = io.StringIO()
    with PlainProgress(stream).bar("starting", 2) as bar:
        bar.advance("b1")
        bar.advance("b2")
    assert stream.getvalue() == "starting 1/2  b1\nstarting 2/2  b2\n"


def test_a_terminal_gets_a_bar_and_lines_that_stay() -> None:
    stream = io.StringIO()
    progress = TerminalProgress(Console(file=stream, force_terminal=True, width=100))
    with progress.bar("starting", 2) as bar:
        bar.advance("[b1] is not markup")
        progress.say("[b]plain[/b]")
    assert "[b1] is not markup" in stream.getvalue()
    assert "[b]plain[/b]" in stream.getvalue()
