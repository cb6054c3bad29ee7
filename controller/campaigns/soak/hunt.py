"""Plays random fault schedules by the thousand, in as many processes as there are cores, and keeps what breaks."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from itertools import islice
from pathlib import Path
from typing import Literal, NamedTuple

from controller.campaigns import rehearsal, run, store
from controller.campaigns.rehearsal import Rehearsed
from controller.campaigns.soak.schedules import NAME, schedule
from controller.progress import Silent
from controller.sim.settings import RUNTIME as SIM

AT_ONCE = 10
Outcome = Literal["pass", "idle", "broken"]


class Tried(NamedTuple):
    scheme: str
    seed: int
    outcome: Outcome
    told: str = ""


def judged(rehearsed: Rehearsed) -> tuple[Outcome, str]:
    """Broken by what happened, or by not coming to an end.

    Whether a fault was seen to bite does not matter: here it is enough that nothing broke.
    """
    judgement = rehearsed.judgement()
    if judgement.violations:
        return "broken", judgement.told()
    if not judgement.pairs_required and not judgement.cut_short:
        return "idle", judgement.told()
    doubts = [doubt for doubt in judgement.doubts if doubt not in rehearsed.course.doubts]
    return ("broken", doubts[0]) if doubts else ("pass", "")


def try_one(scheme: str, seed: int) -> Tried:
    return Tried(scheme, seed, *judged(rehearsal.rehearse(schedule(scheme, seed))))


def hunt(schemes: Sequence[str], seeds: Sequence[int], jobs: int, told: Callable[[Tried], None]) -> None:
    """Each schedule is told when it was tried; an interrupt ends all workers first."""
    batches = ((scheme, seeds[at : at + AT_ONCE]) for scheme in schemes for at in range(0, len(seeds), AT_ONCE))
    if jobs == 1:
        for batch in batches:
            for tried in _try_some(*batch):
                told(tried)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, context, _ignore_ctrl_c) as pool:
        try:
            _hunt(pool, jobs, batches, told)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _hunt(
    pool: ProcessPoolExecutor, jobs: int, batches: Iterator[tuple[str, Sequence[int]]], told: Callable[[Tried], None]
) -> None:
    # A few at a time, so that an interrupt need not wait for all.
    working: set[Future[list[Tried]]] = set()
    while True:
        working |= {pool.submit(_try_some, *batch) for batch in islice(batches, 2 * jobs - len(working))}
        if not working:
            return
        done, working = wait(working, return_when=FIRST_COMPLETED)
        for one in done:
            for tried in one.result():
                told(tried)


def _try_some(scheme: str, seeds: Sequence[int]) -> list[Tried]:
    return [try_one(scheme, seed) for seed in seeds]


def _ignore_ctrl_c() -> None:
    """It goes to everybody at a terminal; workers are ended by their controller."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def keep(tried: Tried) -> Path:
    """Play it once more, onto the disk, as a run that can be audited, repeated and shrunk."""
    made = schedule(tried.scheme, tried.seed)
    directory = store.choose_directory(NAME, tried.seed)
    command = ("brokerlab", "campaign", "soak", "--scheme", tried.scheme, "--from", str(tried.seed), "--schedules", "1")
    spec = run.cluster_spec(made, SIM, command, (), directory)
    return run.carry_out(made, spec, Silent()).directory
