"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])

cluster_option = click.option(
    "--cluster", "cluster_name", metavar="NAME", help="Which cluster, if several are running."
)


def with_option(command: Command) -> Command:
    """Adds `--with PACKAGE`, any number of times; the function gets them as `packages`."""
    made: Command = click.option(
        "--with",
        "packages",
        metavar="PACKAGE",
        multiple=True,
        callback=_checked,
        help="Put a package of your own into the containers' image: its folder, its wheel, or a name that pip knows.",
    )(command)
    return made


def _checked(_context: click.Context, _parameter: click.Parameter, packages: tuple[str, ...]) -> tuple[str, ...]:
    """Told before anything starts, and also where the package is not needed."""
    from controller import image_packages

    image_packages.read_inputs(packages)
    return packages


def with_words(packages: Sequence[str]) -> tuple[str, ...]:
    """The option as it was typed, for a command that repeats it."""
    return tuple(word for package in packages for word in ("--with", package))
