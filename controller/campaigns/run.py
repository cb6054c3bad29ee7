"""One run from beginning to end: a cluster comes up, is loaded and broken, and is gone again; the logs remain."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from controller import cluster as clusters
from controller.campaigns import course, store
from controller.campaigns.course import Outcome
from controller.campaigns.host import HostWatch
from controller.campaigns.settled import SettledRun
from controller.campaigns.stage import Stage
from controller.cluster import ClusterSpec
from controller.interrupts import shielded
from controller.journal import ControllerJournal
from controller.progress import Progress
from controller.sim import cluster as simulated
from controller.sim.settings import RUNTIME as SIM
from controller.workloads.plans import Plan

CLIENTS_PER_DRIVER = 50
DRIVERS_MAX = 2
# Beyond what the phases say: whatever ends by settling takes a while on a busy machine.
CLIENTS_WAIT_S = 600.0


class Ran(Struct, frozen=True):
    directory: Path
    cluster: str
    outcome: Outcome
    why: str = ""
    doubts: tuple[str, ...] = ()
    """What makes the audit's verdict `unknown` at best."""


def cluster_spec(
    run: SettledRun,
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
        clients_wait_s=CLIENTS_WAIT_S + run.phases.warm_s + run.phases.load_s + run.phases.heal_s,
        sim=run.sim,
        packages=packages,
        experiment=run.experiment,
    )


def cluster_name(campaign: str) -> str:
    return f"{campaign[:30]}-{secrets.token_hex(3)}"


def split(plan: Plan) -> dict[str, Plan]:
    """By driver."""
    drivers = min(DRIVERS_MAX, 1 + (len(plan.clients) - 1) // CLIENTS_PER_DRIVER)
    return {f"driver{number}": part for number, part in enumerate(plan.split(drivers), 1)}


def carry_out(run: SettledRun, spec: ClusterSpec, progress: Progress, keep: bool = False) -> Ran:
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
        journal = ControllerJournal.in_files(spec.directory / "logs", run.scheme, cluster.wall_ns)
        if spec.runtime == SIM:
            ended = course.take(run, cluster, journal, progress, keep)
            ran = Ran(spec.directory, spec.name, ended.outcome, ended.why, ended.doubts)
        else:
            with HostWatch() as host:
                ended = course.take(run, cluster, journal, progress, keep)
            store.amend_run(spec.directory, host=host.facts())
            ran = Ran(spec.directory, spec.name, ended.outcome, ended.why, (*ended.doubts, *host.doubts()))
        store.amend_run(spec.directory, unmeasured=list(ended.unmeasured))
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
