"""One run from beginning to end: a cluster comes up, is loaded and broken, and is gone again; the logs remain."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal

from msgspec import Struct, structs

from controller import cluster as clusters
from controller.campaigns import store
from controller.campaigns.host import HostWatch, slow_brokers
from controller.campaigns.model import RunSpec
from controller.campaigns.phases import NotSettled, Phases
from controller.campaigns.stage import Stage
from controller.cluster import ClusterSpec
from controller.errors import BrokerlabError
from controller.faults.base import Fault
from controller.faults.lab import ClusterLab
from controller.faults.ledger import FaultPhase, Ledger
from controller.interrupts import shielded
from controller.journal import ControllerJournal
from controller.progress import Progress
from controller.runtimes.base import GATEWAY
from controller.sim import cluster as simulated
from controller.sim.cluster import SimCluster
from controller.sim.settings import RUNTIME as SIM
from controller.workloads.plans import Plan

CLIENTS_PER_DRIVER = 50
DRIVERS_MAX = 2

Outcome = Literal["complete", "unknown", "interrupted"]


class Ran(Struct, frozen=True):
    directory: Path
    cluster: str
    outcome: Outcome
    why: str = ""
    doubts: tuple[str, ...] = ()
    """What makes the audit's verdict `unknown` at best."""


def cluster_spec(
    run: RunSpec,
    runtime: str,
    command: tuple[str, ...],
    packages: tuple[str, ...] = (),
    directory: Path | None = None,
    name: str | None = None,
    plans: Mapping[str, Plan] | None = None,
) -> ClusterSpec:
    """The plans are made from the seed if they are not given."""
    return ClusterSpec(
        name=name or cluster_name(run.campaign),
        runtime=runtime,
        scheme=run.scheme,
        parameters=run.parameters,
        topology=run.topology,
        directory=directory or store.choose_directory(run.campaign, run.seed),
        seed=run.seed,
        command=command,
        plans=dict(plans or split(run.plan())),
        campaign=run.campaign,
        log=run.log,
        sim=run.sim,
        packages=packages,
        experiment={"workload": run.workload, "faults": run.faults, "phases": run.phases},
    )


def cluster_name(campaign: str) -> str:
    return f"{campaign[:30]}-{secrets.token_hex(3)}"


def split(plan: Plan) -> dict[str, Plan]:
    """By driver."""
    drivers = min(DRIVERS_MAX, 1 + (len(plan.clients) - 1) // CLIENTS_PER_DRIVER)
    return {f"driver{number}": part for number, part in enumerate(plan.split(drivers), 1)}


def carry_out(run: RunSpec, spec: ClusterSpec, progress: Progress, keep: bool = False) -> Ran:
    """Leaves the run directory and nothing else, however it ends; an interrupt is raised again when all is tidy.

    Kept, brokers and gateway of a run that came to its end stay up, to be looked at.
    """
    cluster: Stage = simulated.up(spec, progress) if spec.runtime == SIM else clusters.up(spec, progress)
    store.point_latest(spec.directory)
    progress.say(
        f"run {spec.directory.name}: seed={spec.seed} scheme={spec.scheme} "
        f"brokers={len(cluster.brokers)} runtime={spec.runtime}"
    )
    ran = Ran(spec.directory, spec.name, "interrupted", "interrupted before the end")
    try:
        if spec.runtime == SIM:
            ran = _conduct(run, cluster, progress, keep)
        else:
            with HostWatch() as host:
                ran = _conduct(run, cluster, progress, keep)
            store.amend_run(spec.directory, host=host.facts())
            ran = structs.replace(ran, doubts=(*ran.doubts, *host.doubts()))
        _tell_doubts(ran, progress)
    finally:
        with shielded():
            cluster.close()
            if not keep or ran.outcome != "complete":
                cluster.runtime.down()
            store.amend_run(spec.directory, outcome=ran.outcome, outcome_why=ran.why, doubts=list(ran.doubts))
    return ran


def _tell_doubts(ran: Ran, progress: Progress) -> None:
    for doubt in ran.doubts:
        progress.say(f"doubt: {doubt}")


def _conduct(run: RunSpec, cluster: Stage, progress: Progress, keep: bool) -> Ran:
    journal = ControllerJournal(cluster.directory / "logs", run.scheme, cluster.wall_ns)

    def record(fault: Fault, phase: FaultPhase) -> None:
        journal.fault(fault.id, fault.kind, fault.target, phase, fault.args)

    ledger = Ledger(ClusterLab(cluster), cluster.runtime.state, record)
    try:
        Phases(run, cluster, ledger, journal, progress).play_all()
    except (NotSettled, BrokerlabError) as why:
        progress.say(f"the outcome is unknown: {why}")
        _retreat(cluster, ledger, progress)
        return Ran(cluster.directory, cluster.name, "unknown", str(why))
    except KeyboardInterrupt:
        progress.say("interrupted: healing, closing the logs, removing everything (once more to hurry)")
        _retreat(cluster, ledger, progress)
        raise
    if not isinstance(cluster, SimCluster):
        ledger.doubts += slow_brokers(cluster.statuses(cluster.brokers), ledger.hit)
    store.amend_run(cluster.directory, unmeasured=ledger.unmeasured)
    _close(cluster, cluster.drivers)
    if not keep:
        _close(cluster, cluster.brokers, (GATEWAY,))
    # A controller's log without `close` tells the audit that the run did not come to its end.
    journal.close()
    return Ran(cluster.directory, cluster.name, "complete", doubts=tuple(ledger.doubts))


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
