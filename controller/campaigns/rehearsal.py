"""A simulated run of which nothing is left but its logs, in memory: thousands are played to find one that fails.

What is rehearsed is what `run.carry_out` would do: the same events at the same times, the same bytes in the logs.
"""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from controller.campaigns import course, run
from controller.campaigns.course import Course
from controller.campaigns.settled import SettledRun
from controller.cluster import ClusterSpec
from controller.errors import BrokerlabError
from controller.journal import NAME, ControllerJournal
from controller.judge import Judgement, judge
from controller.progress import Silent
from controller.sim import cluster as simulated
from controller.sim.disk import LogsInMemory
from controller.sim.settings import RUNTIME as SIM
from node.core.schemes import registry
from node.journal import Journal


class Rehearsed(Struct, frozen=True):
    course: Course
    logs: dict[str, bytes]
    """By file name."""
    drivers: tuple[str, ...]
    promise: str

    def judgement(self) -> Judgement:
        drivers = [self.logs[f"{name}.1.jsonl"] for name in self.drivers if f"{name}.1.jsonl" in self.logs]
        controller = self.logs.get(f"{NAME}.1.jsonl", b"")
        return judge(drivers, controller, self.promise, self.course.doubts, self.course.why)


def rehearse(spec: SettledRun) -> Rehearsed:
    plans = run.split(spec.plan())
    cluster = run.cluster_spec(spec, SIM, (), directory=Path(), name="rehearsal", plans=plans)
    shelf = LogsInMemory()
    ended = _played(spec, cluster, shelf)
    return Rehearsed(ended, shelf.files, tuple(plans), registry.find(spec.scheme).promise)


def _played(spec: SettledRun, wanted: ClusterSpec, shelf: LogsInMemory) -> Course:
    wanted.check()
    progress = Silent()
    try:
        cluster = simulated.start(wanted, shelf, progress)
    except BrokerlabError as error:
        return Course("unknown", str(error))
    journal = ControllerJournal(Journal(NAME, 1, cluster.wall_ns, shelf.log(NAME, 1)), spec.scheme)
    return course.take(spec, cluster, journal, progress)
