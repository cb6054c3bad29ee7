"""`brokerlab campaign`: experiments from a file to a verdict."""

from __future__ import annotations

from typing import Any

import click

from controller import output, runtimes
from controller.campaigns import board, model, series, store
from controller.campaigns.model import Campaign
from controller.campaigns.series import Series
from controller.commands import results
from controller.commands.conduct import Conductor, tidy
from controller.commands.options import with_option
from controller.commands.replay import replay
from controller.commands.shrink import shrink
from controller.commands.soak import soak
from controller.errors import UsageError
from controller.sim.settings import RUNTIME as SIM

JOBS = "How many simulated runs at a time; as many as there are cores if left out."


@click.group()
def campaign() -> None:
    """Run experiments."""


@campaign.command("list")
@output.format_option
def list_(format_: str) -> None:
    """List the campaigns that come with brokerlab; docs/campaigns.md tells more of each."""
    output.show([_listed(one) for one in model.listed()], format_)


def _listed(one: Campaign) -> dict[str, Any]:
    data = one.document.data
    topology = data["topology"]
    return {
        "name": one.name,
        "description": one.description,
        "topology": topology if isinstance(topology, str) else topology["generate"],
        "scheme": data["scheme"],
        "load_s": data["phases"]["load_s"],
    }


@campaign.command("run")
@click.argument("file_or_name")
@click.option(
    "--runtime", default=runtimes.DEFAULT, show_default=True, help="Where brokers run: docker, process or sim."
)
@click.option("--seed", metavar="NUMBER", help="In place of the file's.")
@click.option("--scheme", help="In place of the file's.")
@click.option("--topology", help="In place of the file's.")
@click.option(
    "--set", "settings", metavar="KEY=VALUE", multiple=True, help="Any other key, such as workload.rate_hz=50."
)
@with_option
@click.option("--keep", is_flag=True, help="Leave the brokers running to be looked at; no audit.")
@click.option("--no-audit", is_flag=True, help="Stop when the logs are collected.")
@click.option("--jobs", type=int, metavar="N", help=JOBS)
@click.option("--spark-master", metavar="ADDRESS", help="A Spark cluster for the audit; this machine if left out.")
@output.format_option
def run_(
    file_or_name: str,
    runtime: str,
    seed: str | None,
    scheme: str | None,
    topology: str | None,
    settings: tuple[str, ...],
    packages: tuple[str, ...],
    keep: bool,
    no_audit: bool,
    jobs: int | None,
    spark_master: str | None,
    format_: str,
) -> int:
    """Run the campaign FILE_OR_NAME and judge what happened: one cluster after the other, simulated ones at once.

    Exit status: 0 every verdict is pass, 1 a property was broken, 2 it could not be told.
    """
    given = {"seed": seed, "scheme": scheme, "topology": topology}
    overrides = {**{key: value for key, value in given.items() if value is not None}, **output.settings(settings)}
    begun, specs = series.create(file_or_name, overrides, runtime, packages, not (keep or no_audit))
    if runtime != SIM:
        runtimes.find(runtime).check()
    elif keep:
        raise UsageError("--keep leaves brokers running, and those of --runtime sim do not run; leave one of them out")
    if keep and len(specs) > 1:
        raise UsageError(f"--keep is for one run, this campaign has {len(specs)}; choose with --set KEY=VALUE")
    if not (keep or no_audit):
        from controller.audit.session import require_java

        require_java()
    _check_jobs(jobs)
    series.write_new(begun)
    conductor = Conductor(begun, specs, spark_master, jobs)
    try:
        conductor.carry_out(keep)
    except BaseException:
        _say_how_to_go_on(begun)
        raise
    for cluster in conductor.clusters:
        output.say(f"cluster {cluster} is still up; `brokerlab down {cluster}` stops it")
    return results.show(begun, format_)


@campaign.command("resume")
@click.argument("series_directory", metavar="[SERIES]", required=False)
@click.option("--jobs", type=int, metavar="N", help=JOBS)
@click.option("--spark-master", metavar="ADDRESS", help="A Spark cluster for the audit; this machine if left out.")
@output.format_option
def resume(series_directory: str | None, jobs: int | None, spark_master: str | None, format_: str) -> int:
    """Go on with an interrupted SERIES, the latest one if none is named; runs that are done are not repeated.

    What its controller left running is removed first.
    """
    _check_jobs(jobs)
    found = series.read(store.find_run(series_directory)) if series_directory else series.find_unfinished()
    if found.is_finished:
        output.say(f"{found.directory.name} is finished")
        return results.show(found, format_)
    specs = found.specs()
    if found.record.runtime != SIM:
        runtimes.find(found.record.runtime).check()
    output.say(f"going on with {found.directory.name}: {board.standing(found)}")
    for cluster in tidy(found):
        output.say(f"removed what was left of {cluster}")
    try:
        Conductor(found, specs, spark_master, jobs).carry_out()
    except BaseException:
        _say_how_to_go_on(found)
        raise
    return results.show(found, format_)


def _check_jobs(jobs: int | None) -> None:
    if jobs is not None and jobs < 1:
        raise UsageError(f"--jobs {jobs}: at least one run at a time; leave it out for as many as there are cores")


def _say_how_to_go_on(stopped: Series) -> None:
    if not stopped.is_finished:
        output.say(f"`brokerlab campaign resume {stopped.directory.name}` goes on from here")


campaign.add_command(replay)
campaign.add_command(shrink)
campaign.add_command(soak)
