"""`brokerlab topology import`: a network of GraphML or GML as a topology file."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Literal

import click

from controller import output
from controller.commands.generate import FINITE, deliver
from controller.topology import importing, writing


@click.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--output", "output_file", metavar="FILE.yaml", help="Standard output if left out.")
@click.option(
    "--delay-ms", type=FINITE, default=0, show_default=True, help="Delay of links whose length the file does not tell."
)
@click.option(
    "--weights",
    type=click.Choice(["one", "delay"]),
    default="one",
    show_default=True,
    help="What a link weighs when the brokers choose their tree.",
)
@click.option("--largest", is_flag=True, help="Of a network in parts, take the largest.")
def import_(
    file: Path, output_file: str | None, delay_ms: float, weights: Literal["one", "delay"], largest: bool
) -> None:
    """Make a topology of FILE, a network in GraphML or GML, such as the Internet Topology Zoo has them.

    Labels become names of brokers; where both ends of a link have a latitude and a longitude, its delay is that of
    light in a fibre along the great circle.
    """
    made = importing.read(file, importing.Wishes(delay_ms, weights, largest))
    said = [f"--delay-ms {delay_ms}"] * bool(delay_ms) + [f"--weights {weights}"] * (weights != "one")
    words = ["brokerlab topology import", shlex.quote(file.name), *said, *["--largest"] * largest]
    text = writing.to_yaml(made.topology, " ".join(" ".join(words).split()))
    deliver(text, output_file, made.topology.description)
    for remark in made.remarks:
        output.say(f"  {remark}")
