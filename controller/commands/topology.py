"""`brokerlab topology`: which overlays there are, and what they look like."""

from __future__ import annotations

import click

from controller import output
from controller import topology as topologies
from controller.commands.generate import generate
from controller.commands.import_ import import_


@click.group()
def topology() -> None:
    """List, draw, generate and import topologies."""


@topology.command("list")
@output.format_option
def list_(format_: str) -> None:
    """List the topologies that come with brokerlab."""
    rows = []
    for name in topologies.names():
        one = topologies.load(name)
        counts = {"brokers": len(one.brokers), "links": len(one.links)}
        shape = "yes" if one.is_tree else f"leaves out {len(one.left_out)}"
        rows.append({"name": name, **counts, "tree": shape, "description": one.description})
    output.show(rows, format_)


@topology.command()
@click.argument("name")
@click.option("--format", "format_", type=click.Choice(["text", "dot", "json"]), default="text", show_default=True)
def show(name: str, format_: str) -> None:
    """Draw the topology NAME (a name of `topology list`, or a path to a YAML file)."""
    one = topologies.load(name)
    if format_ == "json":
        output.show_json(one.to_json())
        return
    from controller.topology import drawing

    if format_ == "dot":
        click.echo(drawing.dot(one))
    else:
        output.print_rich(drawing.drawing(one))


topology.add_command(generate)
topology.add_command(import_)
