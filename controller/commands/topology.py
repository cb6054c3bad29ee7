"""`brokerlab topology`: which overlays there are, and what they look like."""

from __future__ import annotations

from pathlib import Path

import click

from controller import output
from controller import topology as topologies
from controller.commands.generate import generate
from controller.commands.import_ import import_
from controller.errors import UsageError


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


@topology.command()
@click.option(
    "--output",
    "docs",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("docs"),
    show_default=True,
    help="The folder for topologies.md and its drawings.",
)
def gallery(docs: Path) -> None:
    """Draw every ready topology and every generator, and write the page that shows them."""
    from controller.topology.gallery import page

    try:
        written = page.write(docs)
    except OSError as error:
        raise UsageError(f"{docs} cannot be written to: {error.strerror}; name another folder") from None
    click.echo(f"{written[0]}: {len(written) - 1} drawings")


topology.add_command(generate)
topology.add_command(import_)
