"""`brokerlab audit` and `brokerlab report`: the verdict from the logs."""

from __future__ import annotations

import click

from controller import output, progress
from controller.campaigns import store
from controller.commands import followed, verdicts
from controller.errors import UsageError


@click.command()
@click.argument("runs", metavar="RUN...", nargs=-1, required=True)
@click.option("--spark-master", metavar="ADDRESS", help="A Spark cluster; this machine if left out.")
@click.option("--follow", is_flag=True, help="Watch RUN while it goes on, and judge it when it has ended.")
@output.format_option
def audit(runs: tuple[str, ...], spark_master: str | None, follow: bool, format_: str) -> int:
    """Judge each RUN from its logs. Exit status: 0 pass, 1 fail, 2 unknown; the worst of several.

    A directory without logs among several is told and left out; the status is then 2 at best.
    """
    directories = list(dict.fromkeys(store.find_run(run) for run in runs))
    if follow:
        if len(directories) != 1:
            raise UsageError("--follow watches one run; give one")
        followed.watch(directories[0], spark_master)
    judged = verdicts.judge(directories, spark_master, progress.for_stderr())
    verdicts.show(judged, format_)
    return verdicts.worst_status(judged.values(), left_out=len(directories) - len(judged))


@click.command()
@click.argument("run")
def report(run: str) -> None:
    """Write RUN's report.html from its audit, and print its path."""
    from controller.audit.report import write_report

    click.echo(write_report(store.find_run(run)))
