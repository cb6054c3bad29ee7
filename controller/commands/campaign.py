"""`brokerlab campaign`: experiments from a file to a verdict."""

from __future__ import annotations

import click

from controller import interrupts, output, progress, runtimes
from controller.campaigns import model, run
from controller.campaigns.model import RunSpec
from controller.campaigns.run import Ran
from controller.commands.options import with_option, with_words
from controller.errors import UsageError
from controller.sim.settings import RUNTIME as SIM

UNKNOWN = 2


@click.group()
def campaign() -> None:
    """Run experiments."""


@campaign.command("list")
@output.format_option
def list_(format_: str) -> None:
    """List the campaigns that come with brokerlab."""
    output.show([{"name": one.name, "description": one.description} for one in model.listed()], format_)


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
    spark_master: str | None,
    format_: str,
) -> int:
    """Run the campaign FILE_OR_NAME, one cluster after the other, and judge what happened.

    Exit status: 0 every verdict is pass, 1 a property was broken, 2 it could not be told.
    """
    given = {"seed": seed, "scheme": scheme, "topology": topology}
    overrides = {**{key: value for key, value in given.items() if value is not None}, **_settings(settings)}
    specs = model.runs(model.load(file_or_name, overrides))
    if runtime != SIM:
        runtimes.find(runtime).check()
    elif keep:
        raise UsageError("--keep leaves brokers running, and those of --runtime sim do not run; leave one of them out")
    if keep and len(specs) > 1:
        raise UsageError(f"--keep is for one run, this campaign has {len(specs)}; choose with --set KEY=VALUE")
    if not (keep or no_audit):
        from controller.audit.session import require_java

        require_java()
    shown = progress.for_stderr()
    with interrupts.as_interrupts():
        ran = []
        for spec in specs:
            repeat = (*command(file_or_name, runtime, overrides, spec), *with_words(packages))
            ran.append(run.carry_out(spec, run.cluster_spec(spec, runtime, repeat, packages), shown, keep))
    if keep or no_audit:
        for one in ran:
            if keep and one.outcome == "complete":
                output.say(f"cluster {one.cluster} is still up; `brokerlab down {one.cluster}` stops it")
            click.echo(one.directory)
        return _status(ran)
    from controller.commands import verdicts

    judged = verdicts.judge([one.directory for one in ran], spark_master, shown)
    verdicts.show(judged, format_)
    if len(judged) > 1:
        from controller.commands import compare

        _, page = compare.write(list(judged))
        output.say(f"compared: {page}")
    # Only what the audit passed can get worse by what the runner saw.
    return verdicts.worst_status(judged.values()) or _status(ran)


def _settings(settings: tuple[str, ...]) -> dict[str, str]:
    pairs = [setting.partition("=") for setting in settings]
    for key, equals, _ in pairs:
        if not key or not equals:
            raise UsageError(f"--set {key}: write KEY=VALUE, such as --set workload.rate_hz=50")
    return {key: value for key, _, value in pairs}


def command(file_or_name: str, runtime: str, overrides: dict[str, str], spec: RunSpec) -> tuple[str, ...]:
    """What repeats this run alone: what the matrix chose is said as settings."""
    chosen = {**overrides, **{key: _yaml(value) for key, value in spec.choices.items()}, "seed": str(spec.seed)}
    settings = [part for key, value in chosen.items() for part in ("--set", f"{key}={value}")]
    return ("brokerlab", "campaign", "run", file_or_name, "--runtime", runtime, *settings)


def _yaml(value: object) -> str:
    import msgspec

    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _status(ran: list[Ran]) -> int:
    return UNKNOWN if any(one.outcome != "complete" for one in ran) else 0
