"""Faults on a live cluster outlast the command that applied them: RUN/faults.json remembers."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
from msgspec import Struct

from controller.cluster import LiveCluster, files
from controller.faults.base import Fault
from controller.faults.lab import ClusterLab
from controller.faults.ledger import FaultPhase, Ledger
from controller.journal import ControllerJournal

FILE = "faults.json"


class Remembered(Struct):
    next_number: int = 1
    applied: list[Fault] = []
    healing: list[Fault] = []


def read(directory: Path) -> Remembered:
    try:
        return msgspec.json.decode((directory / FILE).read_bytes(), type=Remembered)
    except FileNotFoundError:
        return Remembered()


@contextmanager
def ledger(cluster: LiveCluster) -> Iterator[Ledger]:
    """The cluster's ledger as the last command left it; one command at a time."""
    logs = cluster.directory / "logs"
    with _locked(cluster.directory), ControllerJournal.in_files(logs, cluster.facts.scheme) as journal:

        def remember() -> None:
            left = Remembered(made.next_number, list(made.active.values()), list(made.healing.values()))
            files.write_json(cluster.directory / FILE, left, files.PRIVATE_FILE)

        def record(fault: Fault, phase: FaultPhase) -> None:
            # Before the blow, so that whoever is killed in the middle of it has not forgotten what to heal.
            remember()
            journal.fault(fault.id, fault.kind, fault.target, phase, fault.args)

        remembered = read(cluster.directory)
        made = Ledger(ClusterLab(cluster), cluster.runtime.state, record, remembered.next_number)
        made.recall(remembered.applied, remembered.healing)
        try:
            yield made
        finally:
            remember()


@contextmanager
def _locked(directory: Path) -> Iterator[None]:
    with (directory / "faults.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
