"""`brokerlab watch`: a live cluster in the terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import click
from msgspec import structs
from rich.console import Console
from rich.live import Live

from controller import interrupts, keyboard, output
from controller.cluster import attach
from controller.watch import ClusterView, Observer
from controller.watch.interest import ORDERS
from controller.watch.screen import Screen, clock

REDRAWN_HZ = 4
QUIT = "qQ\x1b\x04"
HINT = "q quits"
EVENTS_IN_A_SNAPSHOT = 20


@click.command()
@click.argument("cluster_name", metavar="[CLUSTER]", required=False)
@click.option("--every", "every_s", metavar="SECONDS", type=click.FloatRange(0.2), default=1.0, show_default=True,
              help="How often the brokers are asked.")  # fmt: skip
@click.option("--sort", "order", type=click.Choice(list(ORDERS)), default="interest", show_default=True,
              help="Which brokers come first.")  # fmt: skip
@click.option("--once", is_flag=True, help="One plain picture of everything, as when the output is no terminal.")
@output.format_option
def watch(cluster_name: str | None, every_s: float, order: str, once: bool, format_: str) -> None:
    """Watch a running CLUSTER (the only one, if left out): its brokers, links, faults and last events."""
    with attach(cluster_name, "brokerlab watch NAME") as cluster, interrupts.as_interrupts():
        observer = Observer(cluster)
        if format_ == "json" or once or not sys.stdout.isatty():
            _show_once(observer, every_s, order, format_)
        else:
            _show_live(observer, every_s, order)


def _show_once(observer: Observer, every_s: float, order: str, format_: str) -> None:
    """Rates need two looks."""
    observer.look()
    time.sleep(every_s)
    view = observer.look()
    if format_ == "json":
        output.show_json(view)
    else:
        few = structs.replace(view, events=view.events[-EVENTS_IN_A_SNAPSHOT:])
        output.print_rich(Screen(few, order, is_whole=True))


def _show_live(observer: Observer, every_s: float, order: str) -> None:
    console = Console(highlight=False)
    view = observer.look()
    with keyboard.keys() as pressed, _screen(console, view, order) as live:
        while not _wants_to_quit(pressed(every_s)):
            view = observer.look()
            live.update(Screen(view, order, HINT))
            if observer.is_down(view):
                break
        else:
            return
    click.echo(f"cluster {view.cluster} was taken down at {clock(view.t)}; its logs are in {view.directory}/logs")


@contextmanager
def _screen(console: Console, view: ClusterView, order: str) -> Iterator[Live]:
    """Drawn again now and then in any case, so that it fits a terminal that was resized."""
    live = Live(Screen(view, order, HINT), console=console, screen=True, refresh_per_second=REDRAWN_HZ)
    # Not `with live`: an interrupt while it starts would leave its screen behind.
    try:
        live.start(refresh=True)
        yield live
    finally:
        with interrupts.shielded():
            live.stop()


def _wants_to_quit(typed: str) -> bool:
    return any(key in QUIT for key in typed)
