"""`brokerlab runs` and `brokerlab serve`: what was run, in the terminal and in a browser."""

from __future__ import annotations

import time
from pathlib import Path

import click
import msgspec
from rich.text import Text

from controller import interrupts, output
from controller.campaigns import runs as directory
from controller.campaigns import store
from controller.campaigns.runs import Run
from controller.errors import EnvironmentProblem, UsageError
from controller.text import clean, duration, volume
from controller.watch.grid import Column, Fitted
from controller.watch.words import age

VERDICTS = ("pass", "fail", "unknown", directory.UNAUDITED)
STYLES = {"pass": "green", "fail": "bold red", "unknown": "yellow"}
PORT = 8000
_COLUMNS = (
    Column("verdict"), Column("campaign", rank=1, most=28), Column("scheme", most=24), Column("runtime", rank=3),
    Column("seed", rank=2, right=True), Column("brokers", rank=4, right=True), Column("when", right=True),
    Column("lasted", rank=5, right=True), Column("size", rank=6, right=True), Column("run", most=80),
)  # fmt: skip

_root = click.option("--root", type=click.Path(path_type=Path), default=store.ROOT, show_default=True,
                     help="The directory that holds the runs.")  # fmt: skip


@click.command()
@click.option("--campaign", metavar="NAME", help="Only runs of this campaign.")
@click.option("--scheme", metavar="NAME", help="Only runs of this scheme.")
@click.option("--runtime", metavar="NAME", help="Only runs on this runtime.")
@click.option("--seed", type=int, help="Only runs with this seed.")
@click.option("--verdict", type=click.Choice(VERDICTS), help="Only runs of which this was said.")
@click.option("-n", "--last", "count", metavar="N", type=click.IntRange(1), help="Only so many of the newest.")
@_root
@output.format_option
def runs(
    campaign: str | None,
    scheme: str | None,
    runtime: str | None,
    seed: int | None,
    verdict: str | None,
    count: int | None,
    root: Path,
    format_: str,
) -> None:
    """List runs, the newest first."""
    wanted = {"campaign": campaign, "scheme": scheme, "runtime": runtime, "seed": seed, "verdict": verdict}
    asked = {name: value for name, value in wanted.items() if value is not None}
    everything = directory.find(root)
    found = [run for run in everything if all(getattr(run, name) == value for name, value in asked.items())][:count]
    if format_ == "json":
        output.show_json([{**msgspec.to_builtins(run), "run": str(root / run.name)} for run in found])
    elif found:
        output.print_rich(Fitted(_COLUMNS, [_cells(run) for run in found]))
    elif everything:
        output.say(f"none of {len(everything)} runs in {root} is like that")
    else:
        output.say(f"no runs in {root}; `brokerlab campaign run smoke` makes one")


def _cells(run: Run) -> list[Text]:
    ago = "-" if run.started_t is None else f"{age(time.time() - run.started_t / 1e9)} ago"
    lasted = "-" if run.duration_ns is None else duration(run.duration_ns)
    number = ["-" if value is None else str(value) for value in (run.seed, run.brokers)]
    words = [run.campaign or "-", run.scheme or "-", run.runtime or "-", *number, ago, lasted, volume(run.size_bytes)]
    verdict = Text(clean(run.verdict), style=STYLES.get(run.verdict, "dim"))
    return [verdict, *(Text(clean(word)) for word in words), Text(clean(run.name))]


@click.command()
@click.option("--port", type=click.IntRange(0, 65535), default=PORT, show_default=True, help="0 takes a free one.")
@_root
def serve(port: int, root: Path) -> None:
    """Browse runs, reports and comparisons on 127.0.0.1; Ctrl-C ends it."""
    from controller.campaigns.serving import server

    if not root.is_dir():
        raise UsageError(f"no directory `{root}`; `brokerlab campaign run smoke` makes {store.ROOT}")
    try:
        serving = server(root, port)
    except OSError as error:
        raise EnvironmentProblem(f"port {port} cannot be used ({error.strerror}); choose another with --port") from None
    with serving, interrupts.as_interrupts():
        output.say(f"http://127.0.0.1:{serving.server_address[1]}/  shows {root}; Ctrl-C ends it")
        serving.serve_forever()
