"""A run that was made, read back from its directory: all that was settled for it, whatever became of its file since."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from controller import topology as topologies
from controller.campaigns import series
from controller.campaigns.settled import Phases, PlannedRun
from controller.campaigns.timetable import FaultEvent
from controller.cluster import facts
from controller.errors import UsageError
from controller.sim.settings import Settings
from controller.topology import Topology
from controller.workloads import plans
from controller.workloads.plans import Plan
from node.journal import Level

# What else a run's bytes depend on.
_VERSIONS = ("brokerlab", "python", "msgspec", "pyzmq")


class Told(Struct):
    """The part of `run.json` that a run can be repeated from."""

    campaign: str | None
    seed: int
    scheme: str
    parameters: dict[str, Any]
    runtime: str
    drivers: list[str]
    log: Level
    workload: dict[str, Any]
    faults: tuple[FaultEvent, ...]
    phases: Phases
    commit: str | None = None
    versions: dict[str, str | None] = {}
    sim: Settings = Settings()
    packages: tuple[str, ...] = ()
    outcome: str = "interrupted"
    outcome_why: str = ""


class Recorded(Struct, frozen=True):
    directory: Path
    told: Told
    topology: Topology
    plans: dict[str, Plan]
    """By driver."""

    @property
    def run(self) -> PlannedRun:
        told = self.told
        return PlannedRun(
            campaign=told.campaign or "",
            description=f"as in {self.directory.name}",
            topology=self.topology,
            scheme=told.scheme,
            parameters=told.parameters,
            workload=told.workload,
            given=Plan.of(one for plan in self.plans.values() for one in plan.operations),
            faults=told.faults,
            phases=told.phases,
            seed=told.seed,
            log=told.log,
            sim=told.sim,
        )

    def changes(self) -> list[str]:
        """What is not as it was when this run was made, for people."""
        now = {"commit": facts.commit(), **{name: facts.versions().get(name) for name in _VERSIONS}}
        then = {"commit": self.told.commit, **{name: self.told.versions.get(name) for name in _VERSIONS}}
        return [
            f"{name} was {then[name] or 'unknown'}, and is {now[name] or 'unknown'}"
            for name in now
            if then[name] != now[name] and not (name in _VERSIONS and then[name] is None)
        ]

    @property
    def is_of_a_modified_checkout(self) -> bool:
        """Then nobody can say whether the code is the same."""
        return (self.told.commit or "").endswith("-modified")


def read(directory: Path) -> Recorded:
    if (directory / series.FILE).exists():
        raise UsageError(f"{directory} is a series of runs; name one of those that its {series.FILE} lists")
    told = _read(directory / "run.json", Told)
    topology = topologies.from_json(_read(directory / "topology.json", dict[str, Any]))
    found = {driver: _plan(directory / "config" / f"{driver}.plan.jsonl") for driver in told.drivers}
    return Recorded(directory, told, topology, found)


def _read(path: Path, kind: Any) -> Any:
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except OSError as error:
        raise UsageError(f"{path.parent} cannot be repeated: {path.name}: {error.strerror}") from None
    except msgspec.MsgspecError as error:
        told = f"{path.parent} cannot be repeated, it is no campaign's run: {path.name}: {error}"
        raise UsageError(told) from None


def _plan(path: Path) -> Plan:
    try:
        return plans.read(path)
    except OSError as error:
        raise UsageError(f"{path.parent.parent} cannot be repeated: {path.name}: {error.strerror}") from None
    except msgspec.MsgspecError as error:
        raise UsageError(f"{path} is no plan: {error}") from None
