"""Simulated runs in processes of their own, as many at a time as there are cores.

A run's bytes do not depend on who runs beside it. A worker that dies makes its own run unknown and nobody else's; one
whose controller is gone ends by itself.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any

from msgspec import Struct

from controller import interrupts
from controller.campaigns import run
from controller.campaigns.course import Outcome
from controller.campaigns.model import RunSpec
from controller.cluster import ClusterSpec
from controller.errors import BrokerlabError, EnvironmentProblem, UsageError
from controller.progress import Bar

END_WITHIN_S = 10.0
LIGHT_INTERVAL = 10
_ERRORS = {one.__name__: one for one in (BrokerlabError, UsageError, EnvironmentProblem)}


class Job(Struct, frozen=True):
    """One run of a series; its plan is made where it is carried out."""

    number: int
    run: RunSpec
    runtime: str
    command: tuple[str, ...]
    packages: tuple[str, ...]
    directory: Path
    cluster: str

    def spec(self) -> ClusterSpec:
        return run.cluster_spec(self.run, self.runtime, self.command, self.packages, self.directory, self.cluster)


class Heard(Struct, frozen=True):
    """What a worker tells while it works."""

    number: int
    note: str
    stays: bool


class Ended(Struct, frozen=True):
    number: int
    outcome: Outcome
    why: str


def carry_out(jobs: Iterator[Job], at_once: int, told: Callable[[Heard | Ended], None]) -> None:
    """A job is asked for when there is room for it. Each end is told; an interrupt ends all workers first."""
    working: dict[Connection, tuple[Job, SpawnProcess]] = {}
    try:
        while True:
            for job in islice(jobs, at_once - len(working)):
                conn, process = _start(job)
                working[conn] = job, process
            if not working:
                return
            for conn in [one for one in wait(list(working)) if isinstance(one, Connection)]:
                job, process = working[conn]
                heard = _receive(conn, job, process)
                if isinstance(heard, Ended):
                    del working[conn]
                    conn.close()
                    process.join()
                told(heard)
    finally:
        with interrupts.shielded():
            _end_all([process for _, process in working.values()])


def _start(job: Job) -> tuple[Connection, SpawnProcess]:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_work, args=(theirs, job), name=f"run-{job.number}", daemon=True)
    with _ctrl_c_is_ours():
        process.start()
    theirs.close()
    return ours, process


@contextmanager
def _ctrl_c_is_ours() -> Iterator[None]:
    """A terminal's Ctrl-C goes to everybody; workers inherit that it is blocked, and are told by their controller."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _receive(conn: Connection, job: Job, process: SpawnProcess) -> Heard | Ended:
    try:
        kind, *rest = conn.recv()
    except (EOFError, OSError):
        process.join()
        code = process.exitcode or 0
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"status {code}"
        return Ended(job.number, "unknown", f"the process of this run ended with {how}")
    if kind == "error":
        name, text = rest
        if name != BrokerlabError.__name__:
            raise _ERRORS[name](text)
        return Ended(job.number, "unknown", text)
    return Ended(job.number, *rest) if kind == "ran" else Heard(job.number, *rest)


def _end_all(processes: Sequence[SpawnProcess]) -> None:
    for process in processes:
        process.terminate()
    for process in processes:
        process.join(END_WITHIN_S)
        if process.is_alive():
            process.kill()
            process.join()


def _work(conn: Connection, job: Job) -> None:
    """In the worker."""
    threading.Thread(target=_end_with_controller, args=(conn,), daemon=True).start()
    try:
        with interrupts.as_interrupts():
            ran = run.carry_out(job.run, job.spec(), _Told(conn))
        conn.send(("ran", ran.outcome, ran.why))
    except BrokerlabError as error:
        known = type(error).__name__ if type(error).__name__ in _ERRORS else BrokerlabError.__name__
        conn.send(("error", known, str(error)))
    except KeyboardInterrupt:
        os._exit(130)


def _end_with_controller(conn: Connection) -> None:
    """Nothing is ever sent to a worker: the end of the connection is the controller's."""
    try:
        conn.recv()
    except (EOFError, OSError):
        os._exit(1)


class _Told:
    """A worker's progress, shown by its controller."""

    def __init__(self, conn: Connection) -> None:
        self._conn = conn

    def say(self, text: str) -> None:
        self._conn.send(("heard", text, True))

    @contextmanager
    def bar(self, title: str, total: float | None = None) -> Iterator[Bar]:
        yield _ToldBar(self._conn, title, total)


class _ToldBar:
    """Virtual seconds fly by: only every so often one is worth a message."""

    def __init__(self, conn: Connection, title: str, total: float | None) -> None:
        self._conn, self._title, self._total = conn, title, total
        self._done, self._calls = 0.0, 0

    def to(self, done: float, note: str = "") -> None:
        self._done = done
        self._tell()

    def advance(self, note: str = "") -> None:
        self._done += 1
        self._tell()

    def _tell(self) -> None:
        if self._calls % LIGHT_INTERVAL == 0:
            far: Any = f"{self._title} {self._done:.0f}" + (f"/{self._total:.0f}" if self._total is not None else "")
            self._conn.send(("heard", far, False))
        self._calls += 1
