"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])


def with_option(command: Command) -> Command:
    """Adds `--with PACKAGE`, any number of times; the function gets them as `packages`."""
    made: Command = click.option(
        "--with",
        "packages",
        metavar="PACKAGE",
        multiple=True,
        help="Put a package of your own into the containers' image: its folder, its wheel, or a name that pip knows.",
    )(command)
    return made


def with_words(packages: Sequence[str]) -> tuple[str, ...]:
    """The option as it was typed, for a command that repeats it."""
    return tuple(word for package in packages for word in ("--with", package))
