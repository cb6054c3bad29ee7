"""`brokerlab scheme`: which routing schemes there are, and what each promises."""

from __future__ import annotations

from typing import Any

import click
import msgspec

from controller import output
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
        "parameters": [_parameter(field) for field in msgspec.inspect.type_info(one.Parameters).fields],  # type: ignore[attr-defined]
    }


def _parameter(field: msgspec.inspect.Field) -> dict[str, Any]:
    kind = field.type
    meta = {}
    if isinstance(kind, msgspec.inspect.Metadata):
        meta, kind = kind.extra_json_schema or {}, kind.type
    bounds = {edge: value for edge in ("ge", "gt", "le", "lt") if (value := getattr(kind, edge, None)) is not None}
    return {
        "name": field.encode_name,
        "type": type(kind).__name__.removesuffix("Type").lower(),
        "default": None if field.default is msgspec.NODEFAULT else field.default,
        **bounds,
        "meaning": meta.get("description", ""),
    }
