"""`brokerlab graph`: a running cluster drawn with its state."""

from __future__ import annotations

from typing import Any

import click
import msgspec
from rich.text import Text

from controller import output
from controller.cluster import attach
from controller.commands.options import cluster_option
from controller.watch import LinkView, Observer
from controller.watch.graph import drawing
from controller.watch.words import link_state


@click.command()
@cluster_option
@output.format_option
def graph(cluster_name: str | None, format_: str) -> None:
    """Draw a running cluster with the state of its brokers and links, and the faults that are on."""
    with attach(cluster_name) as cluster:
        view = Observer(cluster).look()
        if format_ == "json":
            output.show_json([_row(link) for link in view.links])
        else:
            output.print_rich(drawing(cluster.topology, view))
            output.print_rich(Text())


def _row(link: LinkView) -> dict[str, Any]:
    return {
        "link": link.name,
        "state": link_state(link),
        "delay_ms": link.delay_ms,
        "faults": list(link.faults),
        "forth": msgspec.to_builtins(link.forth),
        "back": msgspec.to_builtins(link.back),
    }
