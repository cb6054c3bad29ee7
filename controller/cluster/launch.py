"""Bring a cluster up, or leave nothing behind."""

from __future__ import annotations

import time
from collections.abc import Sequence

from controller import runtimes
from controller.cluster import files, live
from controller.cluster.live import LiveCluster
from controller.cluster.spec import ClusterSpec, find_scheme
from controller.errors import EnvironmentProblem, UsageError
from controller.interrupts import shielded
from controller.progress import Progress
from controller.runtimes import ports

LAST_LINES = 15
POLL_S = 0.1


def ready_within_s(nodes: int) -> float:
    """Generous: a busy machine starts a node every second."""
    return 45.0 + nodes


def check(spec: ClusterSpec) -> None:
    """Everything that forbids the start, found before anything is made."""
    spec.check()
    kind = runtimes.find(spec.runtime)
    kind.check()
    home = find_scheme(spec.scheme).__module__.partition(".")[0]
    if kind.holds_only_node and home != "node" and not spec.packages:
        raise UsageError(
            f"scheme {spec.scheme} is in the package `{home}`, which the containers' image does not hold; "
            "put it there with --with PACKAGE (its folder, its wheel or its name)"
        )
    if any(one.name == spec.name for one in runtimes.discover()):
        raise UsageError(
            f"a cluster `{spec.name}` is already running; stop it with `brokerlab down {spec.name}`, "
            "or choose another name with --name"
        )
    if spec.port is not None:
        ports.check_free(spec.port)


def up(spec: ClusterSpec, progress: Progress, within_s: float | None = None) -> LiveCluster:
    check(spec)
    kind = runtimes.find(spec.runtime)
    runtime = kind(spec.name, spec.directory, spec.nodes())
    layout = runtime.layout(spec.port)
    client_keys = files.write(spec, layout, kind.owner())
    cluster: LiveCluster | None = None
    try:
        gateway = runtime.up(layout, progress, spec.packages)
        facts = files.cluster_facts(spec, gateway, client_keys)
        files.write_json(spec.directory / live.FILE, facts, files.PRIVATE_FILE)
        cluster = live.read(spec.directory)
        _wait_ready(cluster, within_s or ready_within_s(len(runtime.nodes)), progress)
    except BaseException:
        with shielded():
            if cluster is not None:
                cluster.close()
            runtime.down()
        raise
    return cluster


def _wait_ready(cluster: LiveCluster, within_s: float, progress: Progress) -> None:
    nodes = (*cluster.brokers, *cluster.drivers)
    waiting = list(nodes)
    give_up_at = time.monotonic() + within_s
    with progress.bar("ready", len(nodes)) as bar:
        while waiting:
            answers = cluster.statuses(waiting, 1.0)
            waiting = [name for name in waiting if not ((one := answers[name]) and one["ready"])]
            bar.to(len(nodes) - len(waiting), f"waiting for {_listed(waiting)}" if waiting else "")
            states = cluster.runtime.state() if waiting else {}
            dead = [name for name, state in states.items() if state == "dead"]
            if dead:
                raise _not_ready(cluster, dead, "ended before it was ready", progress)
            if waiting and time.monotonic() > give_up_at:
                why = [f"waits for {', '.join(one['waiting_for'])}" for name in waiting[:1]
                       if (one := answers[name]) and one.get("waiting_for")]  # fmt: skip
                told = " and ".join([f"is not ready after {within_s:g} s", *why])
                raise _not_ready(cluster, waiting, told, progress)
            if waiting:
                time.sleep(POLL_S)


def _not_ready(cluster: LiveCluster, nodes: Sequence[str], what: str, progress: Progress) -> EnvironmentProblem:
    first = nodes[0]
    progress.say(f"last lines of {first}:")
    for line in cluster.runtime.last_lines(first, LAST_LINES) or ["(it said nothing)"]:
        progress.say(f"  {line}")
    others = f" (nor {_listed(nodes[1:])})" if len(nodes) > 1 else ""
    return EnvironmentProblem(
        f"{first} {what}{others}; its last lines are above, its log is in {cluster.directory / 'logs'}; "
        "everything started was removed"
    )


def _listed(names: Sequence[str], count: int = 4) -> str:
    more = f" and {len(names) - count} more" if len(names) > count else ""
    return ", ".join(names[:count]) + more
