"""The course of a run on a cluster that is up: its phases, and how it came to its end."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from controller.campaigns.host import slow_brokers
from controller.campaigns.phases import NotSettled, Phases
from controller.campaigns.settled import SettledRun
from controller.campaigns.stage import Stage
from controller.errors import BrokerlabError
from controller.faults.base import Fault
from controller.faults.lab import ClusterLab
from controller.faults.ledger import FaultPhase, Ledger
from controller.journal import ControllerJournal
from controller.progress import Progress
from controller.runtimes.base import GATEWAY
from controller.sim.cluster import SimCluster

Outcome = Literal["complete", "unknown", "interrupted"]


class Course(Struct, frozen=True):
    outcome: Outcome
    why: str = ""
    doubts: tuple[str, ...] = ()
    """What makes a verdict `unknown` at best."""
    unmeasured: tuple[str, ...] = ()
    """Faults that were over before they could be measured, or hidden by others."""


def take(run: SettledRun, cluster: Stage, journal: ControllerJournal, progress: Progress, keep: bool = False) -> Course:
    """Plays all phases and closes the logs; an interrupt is raised again once that is done.

    Kept, the brokers of a run that came to its end stay up.
    """

    def record(fault: Fault, phase: FaultPhase) -> None:
        journal.fault(fault.id, fault.kind, fault.target, phase, fault.args)

    ledger = Ledger(ClusterLab(cluster), cluster.runtime.state, record)
    try:
        Phases(run, cluster, ledger, journal, progress).play_all()
    except (NotSettled, BrokerlabError) as why:
        progress.say(f"the outcome is unknown: {why}")
        _retreat(cluster, ledger, progress)
        return Course("unknown", str(why), unmeasured=tuple(ledger.unmeasured))
    except KeyboardInterrupt:
        progress.say("interrupted: healing, closing the logs, removing everything (once more to hurry)")
        _retreat(cluster, ledger, progress)
        raise
    if not isinstance(cluster, SimCluster):
        ledger.doubts += slow_brokers(cluster.statuses(cluster.brokers), ledger.hit)
    _close(cluster, cluster.drivers)
    if not keep:
        _close(cluster, cluster.brokers, (GATEWAY,))
    # A controller's log without `close` tells the audit that the run did not come to its end.
    journal.close()
    return Course("complete", doubts=tuple(ledger.doubts), unmeasured=tuple(ledger.unmeasured))


def _retreat(cluster: Stage, ledger: Ledger, progress: Progress) -> None:
    try:
        ledger.heal_all()
        ledger.settle()
    except BrokerlabError as error:
        progress.say(f"not everything could be healed: {error}")
    _close(cluster, cluster.drivers, cluster.brokers, (GATEWAY,))


def _close(cluster: Stage, *groups: Iterable[str]) -> None:
    """Drivers before brokers: while they close there must be nobody missing whom they talk to."""
    for nodes in groups:
        cluster.runtime.stop_all(nodes)
