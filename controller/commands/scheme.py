"""`brokerlab scheme`: which routing schemes there are, and what each promises."""

from __future__ import annotations

from typing import Any

import click

from controller import output, parameters
from node.core.schemes import registry


@click.group()
def scheme() -> None:
    """List routing schemes."""


@scheme.command("list")
@output.format_option
def list_(format_: str) -> None:
    """List the schemes with their promises, what they declare and need, and their parameters."""
    rows = [_row(name) for name in registry.names()]
    if format_ == "table":
        for row in rows:
            row["parameters"] = [f"{one['name']}={one['default']}" for one in row["parameters"]]
    output.show(rows, format_)


def _row(name: str) -> dict[str, Any]:
    one = registry.find(name)
    return {
        "name": name,
        "promise": one.promise,
        "declares": sorted(one.declares),
        "needs": sorted(one.needs),
        "summary": one.summary,
        "parameters": parameters.described(one.Parameters),
    }
