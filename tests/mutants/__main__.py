"""`make mutants`: every mutant has to be convicted by one of the campaigns, and the schemes as they are by none."""

from __future__ import annotations

import multiprocessing
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed

import click

from controller import output, progress
from tests.mutants.catalogue import HONEST, MUTANTS
from tests.mutants.trial import SOAK, Trial, keep, try_mutant

CAMPAIGNS = ("smoke", "flapping-link", "rolling-restarts")


def try_all(names: list[str], campaigns: tuple[str, ...], schedules: int, jobs: int) -> dict[str, Trial]:
    """Each in a process of its own, so that no wrong part is left where it was put."""
    found: dict[str, Trial] = {}
    context = multiprocessing.get_context("spawn")
    with (
        ProcessPoolExecutor(jobs, context, max_tasks_per_child=1) as pool,
        progress.for_stderr().bar("mutants", len(names)) as bar,
    ):
        trials = [pool.submit(try_mutant, name, campaigns, schedules) for name in names]
        for one in as_completed(trials):
            found[one.result().name] = one.result()
            bar.advance(one.result().name)
    return {name: found[name] for name in names}


def row(trial: Trial) -> dict[str, str]:
    mutant = MUTANTS.get(trial.name)
    convicting = [campaign for campaign, told in trial.found.items() if told]
    return {
        "name": trial.name,
        "what is wrong": mutant.story if mutant else "nothing",
        "convicted by": ", ".join(convicting) or "nobody",
        "of": next((told for told in trial.found.values() if told), "")[:70],
    }


def audited(trials: list[Trial]) -> dict[str, str]:
    """What the audit says of the schedule that convicted each, all in one Spark session."""
    from controller.commands import verdicts

    runs = {keep(trial): trial.name for trial in trials if trial.seed is not None}
    judged = verdicts.judge(list(runs), None, progress.for_stderr())
    return {runs[run]: verdict.verdict for run, verdict in judged.items()}


@click.command()
@click.argument("names", nargs=-1)
@click.option("--schedules", type=int, default=150, show_default=True, help="Random schedules for each, at most.")
@click.option("--jobs", type=int, default=2, show_default=True)
@click.option("--campaign", "campaigns", multiple=True, default=CAMPAIGNS, show_default=True)
@click.option("--audit", is_flag=True, help="Let Spark judge the schedules that convicted, too (minutes).")
@output.format_option
def main(
    names: tuple[str, ...], schedules: int, jobs: int, campaigns: tuple[str, ...], audit: bool, format_: str
) -> None:
    chosen = list(names) or [*MUTANTS, *HONEST]
    output.say(f"judged by the quick judge: {', '.join(campaigns)} and up to {schedules} random schedules ({SOAK})")
    trials = try_all(chosen, campaigns, schedules, jobs)
    rows = [row(trial) for trial in trials.values()]
    wrong = [one["name"] for one in rows if (one["convicted by"] == "nobody") == (one["name"] in MUTANTS)]
    if audit:
        said = audited([trial for trial in trials.values() if trial.name in MUTANTS])
        rows = [{**one, "the audit says": said.get(one["name"], "-")} for one in rows]
        wrong += [name for name, verdict in said.items() if verdict == "pass"]
    output.show(rows, format_)
    output.say(f"not as it should be: {', '.join(wrong)}" if wrong else "all mutants are convicted, nobody else is")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
