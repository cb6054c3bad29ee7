"""`brokerlab campaign shrink`: the smallest run that still breaks the same."""

from __future__ import annotations

from pathlib import Path

import click

from controller import interrupts, output, progress
from controller.campaigns import recorded, rehearsal, run, store, transcript
from controller.campaigns.settled import PlannedRun
from controller.campaigns.shrink.shrinking import ENDED, UNCONFIRMED, UNSETTLED, Shrinker, offence
from controller.commands import verdicts
from controller.errors import UsageError
from controller.progress import Silent
from controller.sim.settings import RUNTIME as SIM

FILE = "transcript.txt"
BROKEN, UNTOLD = 1, 2


@click.command()
@click.argument("run_directory", metavar="RUN")
@click.option("--within-s", type=float, default=120, show_default=True, metavar="SECONDS", help="How long to look.")
@click.option("--no-audit", is_flag=True, help="Believe the quick judge; without Spark.")
@click.option("--spark-master", metavar="ADDRESS", help="A Spark cluster for the audit; this machine if left out.")
def shrink(run_directory: str, within_s: float, no_audit: bool, spark_master: str | None) -> int:
    """Reduce a failing simulated RUN to the fewest brokers, operations and faults that still break the same property.

    Prints a transcript: put into tests/scenario as a .txt file, `pytest tests/scenario` tells it again. Each try is
    judged by the quick judge, the result by the audit. Exit status: that of the verdict; 2 if RUN breaks nothing.
    """
    found = recorded.read(store.find_run(run_directory))
    if found.told.runtime != SIM:
        raise UsageError(f"{found.directory.name} ran in {found.told.runtime}; only simulated runs come out the same")
    for change in found.changes():
        output.say(f"not as it was: {change}")
    wanted = offence(rehearsal.rehearse(found.run))
    if wanted is None:
        output.say(f"{found.directory.name} breaks nothing that could be shrunk")
        return UNTOLD
    output.say(f"convicted of: {wanted}")
    shrinker = _shrink(found.run, wanted, within_s)
    directory = _keep(shrinker.run, found.directory, wanted)
    click.echo((directory / FILE).read_text(), nl=False)
    output.say(f"run: {directory}")
    if no_audit:
        return UNTOLD if wanted in (ENDED, UNSETTLED, UNCONFIRMED) else BROKEN
    judged = verdicts.judge([directory], spark_master, progress.for_stderr())
    for verdict in judged.values():
        output.say(f"the audit says: {verdict.verdict}{''.join(f'; {reason}' for reason in verdict.reasons)}")
    return verdicts.worst_status(judged.values())


def _shrink(broken: PlannedRun, wanted: str, within_s: float) -> Shrinker:
    with progress.for_stderr().bar("shrink") as bar, interrupts.as_interrupts():
        shrinker = Shrinker(broken, wanted, within_s, bar.advance)
        before = shrinker.counted()
        try:
            is_done = shrinker.shrink()
        except KeyboardInterrupt:
            is_done = False
    output.say(f"from {before} to {shrinker.counted()}, in {shrinker.tried} runs")
    if not is_done:
        output.say("stopped before it was as small as can be; --within-s gives it more time")
    return shrinker


def _keep(small: PlannedRun, origin: Path, wanted: str) -> Path:
    """As a run with its transcript, beside the one that it came from."""
    directory = store.choose_directory("shrunk", small.seed, origin.parent)
    spec = run.cluster_spec(small, SIM, ("brokerlab", "campaign", "replay", str(directory)), (), directory)
    run.carry_out(small, spec, Silent())
    told = transcript.text(small, f"{wanted}, shrunk from {origin.name}")
    (directory / FILE).write_text(transcript.tell(told))
    return directory
