"""`brokerlab logs`: what a node wrote, for people or as it stands there."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path

import click
from rich.console import Console
from rich.text import Text

from controller import interrupts, output, runtimes
from controller.cluster import LiveCluster, attach
from controller.commands.options import cluster_option
from controller.errors import UsageError
from controller.files import POLL_S
from controller.watch import log, story
from controller.yamlfile import known
from node.core.records import RECORDS

LOOKS_FOR_CLUSTER_S = 1.0
TAIL = 20
SAMPLE = "sample"
EVENTS = tuple(str(record.__struct_config__.tag) for record in RECORDS)
_PARTS = re.compile(r"(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s)?")
_PART_S = (86_400, 3_600, 60, 1)


def _tail(_context: click.Context, _parameter: click.Parameter, given: str | None) -> int | None:
    if given is None:
        return None
    if given == "all":
        return sys.maxsize
    if not given.isdecimal():
        raise UsageError(f"--tail takes a number of lines or `all`, not `{given}`")
    return int(given)


def _since(_context: click.Context, _parameter: click.Parameter, given: str | None) -> int | None:
    """In ns since the epoch."""
    if given is None:
        return None
    match = _PARTS.fullmatch(given)
    if match and given:
        ago_s = sum(float(part) * each for part, each in zip(match.groups(), _PART_S, strict=True) if part)
        return round((time.time() - ago_s) * 1e9)
    try:
        return round(datetime.fromisoformat(given).timestamp() * 1e9)
    except ValueError:
        raise UsageError(
            f"--since takes how long ago (90s, 5m, 1h30m) or a moment (2026-11-18T14:03), not `{given}`"
        ) from None


@click.command()
@click.argument("node")
@click.option("-f", "--follow", is_flag=True, help="Go on as more is written, also by the next incarnation.")
@click.option("-n", "--tail", "--lines", "count", metavar="N", callback=_tail,
              help=f"How many of the last lines, or `all`; {TAIL} if left out, all with --since.")  # fmt: skip
@click.option("--since", "since_t", metavar="WHEN", callback=_since,
              help="Only what was written since: 5m ago, or 2026-11-18T14:03.")  # fmt: skip
@click.option("--time", "clock", type=click.Choice(["clock", "date", "run"]), default="clock", show_default=True,
              help="Times of day, with the date, or seconds since the run began.")  # fmt: skip
@click.option("--event", "events", multiple=True, type=click.Choice(EVENTS), metavar="EVENT",
              help="Only records of this kind, such as link; may be repeated. "
                   "If left out, all but samples, which come twice a second.")  # fmt: skip
@click.option("--raw", is_flag=True, help="The JSON lines as they are, samples too.")
@click.option("--stderr", "said", is_flag=True, help="What the node said to operators, instead of its log.")
@click.option("--run", "run", metavar="RUN", help="Of a run directory, whose cluster may be gone.")
@cluster_option
def logs(
    node: str,
    follow: bool,
    count: int | None,
    since_t: int | None,
    clock: str,
    events: tuple[str, ...],
    raw: bool,
    said: bool,
    run: str | None,
    cluster_name: str | None,
) -> None:
    """Show what NODE wrote to its log: a broker, a driver, or `controller`."""
    if count is None:
        count = TAIL if since_t is None else sys.maxsize
    with ExitStack() as stack:
        cluster = stack.enter_context(attach(cluster_name)) if run is None else None
        directory = cluster.directory if cluster is not None else _run_directory(str(run))
        written = log.Log(directory / "logs", node)
        stack.enter_context(interrupts.as_interrupts())
        if said or (cluster is not None and cluster.facts.nodes.get(node) == "gateway"):
            _show_said(cluster, node, count, follow, since_t)
            return
        _check(node, written, directory, cluster)
        wanted = _wanted(events, raw)
        show = _raw if raw else _pretty(story.clocks(log.origin_t(directory / "logs"))[clock])
        for line in written.last(count, since_t, wanted):
            show(line)
        if follow:
            _follow(written, lambda line: show(line) if wanted(line) else None, cluster)


def _wanted(events: tuple[str, ...], raw: bool) -> Callable[[bytes], bool]:
    """What is no record at all is shown unless something was chosen."""
    if raw and not events:
        return lambda line: True
    chosen = frozenset(events) or frozenset(EVENTS) - {SAMPLE}

    def is_wanted(line: bytes) -> bool:
        record = log.decoded(line)
        return not events if record is None else record.get("event") in chosen

    return is_wanted


def _run_directory(run: str) -> Path:
    from controller.campaigns import store

    return store.find_run(run)


def _check(node: str, written: log.Log, directory: Path, cluster: LiveCluster | None) -> None:
    if written.exists or (cluster is not None and node in cluster.facts.nodes):
        return
    there = dict.fromkeys(path.name.rsplit(".", 2)[0] for path in sorted((directory / "logs").glob("*.*.jsonl")))
    raise UsageError(f"no node `{node}` in {cluster.name if cluster else directory}; {known(node, list(there))}")


def _show_said(cluster: LiveCluster | None, node: str, count: int, follow: bool, since_t: int | None) -> None:
    """The runtime keeps it, so it needs a cluster that is there."""
    if cluster is None or since_t is not None:
        raise UsageError("what a node said to operators is known of running clusters only, and not by time")
    if node not in cluster.facts.nodes:
        raise UsageError(f"no node `{node}` in {cluster.name}; {known(node, list(cluster.facts.nodes))}")
    for line in cluster.runtime.follow(node, count) if follow else cluster.runtime.last_lines(node, count):
        click.echo(line)


def _follow(written: log.Log, show: Callable[[bytes], None], cluster: LiveCluster | None) -> None:
    for lines in _growing(written, cluster):
        for line in lines:
            show(line)
    if cluster is not None:
        output.say(f"cluster {cluster.name} was taken down")


def _growing(written: log.Log, cluster: LiveCluster | None) -> Iterator[list[bytes]]:
    """Until the cluster is gone; of a run directory nobody knows whether it is."""
    looked_at_s = time.monotonic()
    is_over = False
    while not is_over:
        if cluster is not None and time.monotonic() - looked_at_s > LOOKS_FOR_CLUSTER_S:
            looked_at_s = time.monotonic()
            # Asked before the log is read: what was written until then is shown.
            is_over = not runtimes.is_there(cluster.name, cluster.directory)
        yield written.read_on()
        time.sleep(0 if is_over else POLL_S)


def _raw(line: bytes) -> None:
    click.echo(line.decode(errors="replace"))


def _pretty(clock: story.Clock) -> Callable[[bytes], None]:
    console = Console(highlight=False, soft_wrap=True)

    def show(line: bytes) -> None:
        record = log.decoded(line)
        told = story.line(record, clock) if record else Text(line.decode(errors="replace"), style="red")
        if console.is_terminal:
            console.print(told)
        else:
            click.echo(told.plain)

    return show
