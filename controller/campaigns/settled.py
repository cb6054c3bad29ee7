"""One run with everything settled: nothing is left to defaults, files or chance."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from msgspec import Struct

from controller.campaigns.timetable import FaultEvent, Period, Seconds
from controller.sim.settings import Settings
from controller.topology import Topology
from controller.workloads.plans import Plan
from node.journal import Level


class Phases(Struct, frozen=True, forbid_unknown_fields=True):
    load_s: Period
    warm_s: Seconds = 2
    heal_s: Seconds = 5


class SettledRun(Struct, frozen=True, kw_only=True):
    campaign: str
    description: str
    topology: Topology
    scheme: str
    parameters: dict[str, Any]
    faults: tuple[FaultEvent, ...]
    phases: Phases
    seed: int
    log: Level
    """How much the brokers tell."""
    sim: Settings
    """For the runtime `sim` only."""

    @abstractmethod
    def plan(self) -> Plan: ...

    @property
    @abstractmethod
    def experiment(self) -> dict[str, Any]:
        """What is done to the cluster, written down so that runs can be compared and repeated."""


class PlannedRun(SettledRun, frozen=True, kw_only=True):
    """Its plan is given, not made from a workload that a campaign file could ask for."""

    workload: dict[str, Any]
    """What the plan once was made from, in words."""
    given: Plan

    def plan(self) -> Plan:
        return self.given

    @property
    def experiment(self) -> dict[str, Any]:
        return {"workload": self.workload, "faults": self.faults, "phases": self.phases}
