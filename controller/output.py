"""Results go to stdout, as a table for people or JSON for programs; progress goes to stderr."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import click
import msgspec

from controller.errors import UsageError

Command = TypeVar("Command", bound=Callable[..., Any])
Row = Mapping[str, Any]


def format_option(command: Command) -> Command:
    """Adds `--format table|json`; the function gets it as `format_`."""
    choice = click.Choice(["table", "json"])
    made: Command = click.option("--format", "format_", type=choice, default="table", show_default=True)(command)
    return made


def settings(given: Sequence[str]) -> dict[str, str]:
    """What `--set KEY=VALUE` said."""
    pairs = [setting.partition("=") for setting in given]
    for key, equals, _ in pairs:
        if not key or not equals:
            raise UsageError(f"--set {key}: write KEY=VALUE, such as --set workload.rate_hz=50")
    return {key: value for key, _, value in pairs}


def show(rows: Sequence[Row], format_: str, columns: Sequence[str] | None = None, empty: str = "nothing") -> None:
    """One list of results: the JSON has every key of the rows, the table the named columns."""
    if format_ == "json":
        show_json([dict(row) for row in rows])
    elif rows:
        _table(rows, columns or list(rows[0]))
    else:
        say(empty)


def show_json(value: Any) -> None:
    click.echo(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())


def print_rich(renderable: Any) -> None:
    """To stdout; lines are never cut when nobody watches, so pipes get every word."""
    from rich.console import Console

    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=10_000, no_color=True)
    console.print(renderable, soft_wrap=False, crop=False)


def say(text: str) -> None:
    """Progress and remarks, for a person: stderr."""
    click.echo(text, err=True)


def complain(text: str) -> None:
    """The one line that says what went wrong."""
    sys.stdout.flush()
    say("brokerlab: " + " ".join(text.split()))


def _table(rows: Sequence[Row], columns: Sequence[str]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column.replace("_", " "), overflow="fold")
    for row in rows:
        table.add_row(*(Text(_cell(row.get(column))) for column in columns))
    print_rich(table)


def _cell(value: Any) -> str:
    if value is None or value == "":
        return "-"
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple | set | frozenset):
        return ", ".join(_cell(one) for one in value) or "-"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)
