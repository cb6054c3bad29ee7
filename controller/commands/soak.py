"""`brokerlab campaign soak`: random fault schedules, as many as one has time for."""

from __future__ import annotations

import os
import secrets
from collections import Counter
from collections.abc import Sequence

import click

from controller import interrupts, output, progress
from controller.campaigns.soak import hunt
from controller.campaigns.soak.hunt import Tried
from controller.cluster.spec import find_scheme
from controller.errors import UsageError
from node.core.schemes import registry

SEEDS = 10**9
KEPT_MAX = 5
"""Of one scheme: more of them mostly show the same."""
SEEDS_SHOWN = 10


@click.command()
@click.option("--scheme", "schemes", multiple=True, help="One scheme, several times for several; all if left out.")
@click.option("--schedules", type=int, default=1000, show_default=True, metavar="N", help="How many for each scheme.")
@click.option("--from", "first", type=int, metavar="SEED", help="The first one; 1 if left out.")
@click.option("--fresh", is_flag=True, help="Begin at a seed that nobody has chosen.")
@click.option("--jobs", type=int, metavar="N", help="How many at a time; as many as there are cores if left out.")
@output.format_option
def soak(
    schemes: tuple[str, ...], schedules: int, first: int | None, fresh: bool, jobs: int | None, format_: str
) -> int:
    """Break small simulated networks at random, and see that schemes keep what they promise.

    A schedule is a few brokers, restless clients and up to eight faults, often at once, all drawn from one seed. What
    breaks is kept as a run, to be repeated and shrunk. Exit status: 0 nothing broke, 1 something did.
    """
    if schedules < 1 or (jobs is not None and jobs < 1):
        raise UsageError("--schedules and --jobs are at least 1")
    if first is not None and (fresh or not 0 <= first < SEEDS):
        raise UsageError(f"--from is a number below {SEEDS}, and does without --fresh")
    for scheme in schemes:
        find_scheme(scheme)
    chosen = schemes or tuple(registry.names())
    begin = secrets.randbelow(SEEDS) if fresh else 1 if first is None else first
    seeds = range(begin, begin + schedules)
    output.say(f"seeds {seeds[0]} to {seeds[-1]}, the same for every scheme")
    tried = _try_all(chosen, seeds, jobs or os.cpu_count() or 1)
    for scheme in chosen:
        _keep([one for one in tried if one.scheme == scheme and one.outcome == "broken"])
    output.show([_row(scheme, [one for one in tried if one.scheme == scheme]) for scheme in chosen], format_)
    return 1 if any(one.outcome == "broken" for one in tried) else 0


def _try_all(schemes: Sequence[str], seeds: Sequence[int], jobs: int) -> list[Tried]:
    tried: list[Tried] = []
    with progress.for_stderr().bar("schedules", len(schemes) * len(seeds)) as bar, interrupts.as_interrupts():

        def told(one: Tried) -> None:
            tried.append(one)
            broken = sum(each.outcome == "broken" for each in tried)
            bar.advance(f"{one.scheme}{f'  {broken} broken' if broken else ''}")

        hunt.hunt(schemes, seeds, jobs, told)
    return sorted(tried, key=lambda one: (schemes.index(one.scheme), one.seed))


def _keep(broken: Sequence[Tried]) -> None:
    for one in broken[:KEPT_MAX]:
        directory = hunt.keep(one)
        output.say(f"broken: {one.scheme}, seed {one.seed}: {one.told}")
        output.say(f"  brokerlab campaign replay {directory}")
        output.say(f"  brokerlab campaign shrink {directory}")


def _row(scheme: str, tried: Sequence[Tried]) -> dict[str, object]:
    counted = Counter(one.outcome for one in tried)
    seeds = [one.seed for one in tried if one.outcome == "broken"]
    return {
        "scheme": scheme,
        "schedules": len(tried),
        **{outcome: counted[outcome] for outcome in ("pass", "idle", "broken")},
        "broken seeds": " ".join(map(str, seeds[:SEEDS_SHOWN])) + (" …" if len(seeds) > SEEDS_SHOWN else ""),
    }
