"""`brokerlab campaign replay`: one run again, exactly."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from controller import interrupts, output, progress, runtimes
from controller.campaigns import recorded, store
from controller.campaigns import replay as replays
from controller.campaigns.recorded import Recorded
from controller.campaigns.replay import Likeness
from controller.commands import verdicts
from controller.sim.settings import RUNTIME as SIM

SAME, DIFFERENT, UNTOLD = 0, 1, 2


@click.command()
@click.argument("run")
@click.option("--no-audit", is_flag=True, help="Containers and processes: stop when the logs are collected.")
@click.option("--spark-master", metavar="ADDRESS", help="A Spark cluster for the audit; this machine if left out.")
@output.format_option
def replay(run: str, no_audit: bool, spark_master: str | None, format_: str) -> int:
    """Repeat RUN from what its directory holds, whatever became of its campaign file.

    A simulated run comes out the same to the byte: its logs are compared. Exit status: 0 they are the same, 1 they
    differ, 2 RUN was interrupted. In containers and processes the plan and the faults' timetable are the same, timing
    is not: the repetition is judged, with the exit status of `campaign run`.
    """
    found = recorded.read(store.find_run(run))
    if found.told.runtime != SIM:
        runtimes.find(found.told.runtime).check()
        output.say(f"in {found.told.runtime} the plan and the faults' timetable are repeated, timing is not")
    for change in found.changes():
        output.say(f"not as it was: {change}")
    if found.is_of_a_modified_checkout:
        output.say("not certain: the run was made by a checkout with changes that no commit holds")
    shown = progress.for_stderr()
    with interrupts.as_interrupts():
        ran = replays.repeat(found, shown)
    if found.told.runtime == SIM:
        return _compare(found, ran.directory, format_)
    if no_audit:
        click.echo(ran.directory)
        return SAME if ran.outcome == "complete" else UNTOLD
    judged = verdicts.judge([ran.directory], spark_master, shown)
    verdicts.show(judged, format_)
    return verdicts.worst_status(judged.values())


def _compare(found: Recorded, repeated: Path, format_: str) -> int:
    likeness = replays.compare(found.directory / "logs", repeated / "logs")
    was_interrupted = found.told.outcome == "interrupted"
    if format_ == "json":
        output.show_json(_told(found, repeated, likeness))
    else:
        _show(found, repeated, likeness)
    if was_interrupted:
        output.say(f"{found.directory.name} was interrupted; its repetition went on to the end")
    return SAME if likeness.difference is None else UNTOLD if was_interrupted else DIFFERENT


def _told(found: Recorded, repeated: Path, likeness: Likeness) -> dict[str, object]:
    difference = None if likeness.difference is None else likeness.difference._asdict()
    return {
        "run": str(found.directory),
        "replay": str(repeated),
        "same": difference is None,
        "logs": likeness.logs,
        "lines": likeness.lines,
        "difference": msgspec.to_builtins(difference),
        "changes": found.changes(),
    }


def _show(found: Recorded, repeated: Path, likeness: Likeness) -> None:
    if likeness.difference is None:
        click.echo(f"the same to the byte: {likeness.logs} logs, {likeness.lines} lines")
    else:
        file, line, was, now = likeness.difference
        click.echo(f"different, first in {file} line {line}")
        click.echo(f"  was: {was or 'no such line'}")
        click.echo(f"  now: {now or 'no such line'}")
    click.echo(f"replay: {repeated}")
