"""`brokerlab fault`: break a running cluster, and mend it."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

import click
import msgspec

from controller import faults, interrupts, output
from controller.cluster import LiveCluster, attach
from controller.errors import BrokerlabError, UsageError
from controller.faults import memory
from controller.faults.base import Fault
from controller.faults.ledger import Ledger, Skipped

HEALED_WITHIN_S = 60.0
POLL_S = 0.1

_cluster = click.option("--cluster", "cluster_name", metavar="NAME", help="Which cluster, if several are running.")


@click.group()
def fault() -> None:
    """Break and mend a running cluster."""


@fault.command()
@click.argument("broker")
@_cluster
def kill(broker: str, cluster_name: str | None) -> None:
    """SIGKILL BROKER; `fault restart` brings it back."""
    _apply("kill", f"broker:{broker}", {}, cluster_name)


@fault.command()
@click.argument("broker")
@_cluster
def pause(broker: str, cluster_name: str | None) -> None:
    """Freeze BROKER; `fault resume` lets it go on."""
    _apply("pause", f"broker:{broker}", {}, cluster_name)


@fault.command()
@click.argument("link")
@_cluster
def cut(link: str, cluster_name: str | None) -> None:
    """Drop everything on LINK (A-B), both ways; `fault heal` joins it again."""
    _apply("cut", f"link:{link}", {}, cluster_name)


@fault.command()
@click.argument("link")
@click.option("--ms", "delay_ms", type=click.FloatRange(0), required=True, help="How long everything is held back.")
@_cluster
def delay(link: str, delay_ms: float, cluster_name: str | None) -> None:
    """Hold back everything on LINK (A-B), both ways; `fault heal` ends it."""
    _apply("delay", f"link:{link}", {"delay_ms": delay_ms}, cluster_name)


@fault.command()
@click.argument("broker")
@_cluster
def restart(broker: str, cluster_name: str | None) -> None:
    """Bring a killed BROKER back, or kill a living one and start it again; returns when it is ready."""
    with attach(cluster_name) as cluster, memory.ledger(cluster) as ledger:
        target = _target(cluster, f"broker:{broker}")
        killed = [one for one in ledger.on(target) if faults.find(one.kind).is_death]
        if not killed and cluster.runtime.state()[broker] == "dead":
            # It fell by itself: there is no blow to record, only a broker to be started.
            cluster.runtime.start(broker)
            _wait(lambda: cluster.is_ready(broker), f"{broker} is not ready")
        else:
            _heal(ledger, killed or [ledger.apply("restart", target, {})])
        output.say(f"{broker} is back and ready")


@fault.command()
@click.argument("broker")
@_cluster
def resume(broker: str, cluster_name: str | None) -> None:
    """Let a paused BROKER go on."""
    with attach(cluster_name) as cluster, memory.ledger(cluster) as ledger:
        paused = [one for one in ledger.on(_target(cluster, f"broker:{broker}")) if one.kind == "pause"]
        if not paused:
            raise UsageError(f"{broker} is not paused; see `brokerlab fault list`")
        _heal(ledger, paused)


@fault.command()
@click.argument("target", required=False)
@click.option("--all", "all_", is_flag=True, help="Everything that is applied.")
@_cluster
def heal(target: str | None, all_: bool, cluster_name: str | None) -> None:
    """Heal every fault on TARGET, a link (A-B) or a broker; returns when it is complete."""
    if (target is None) != all_:
        raise UsageError("name a link or a broker to heal, or give --all")
    with attach(cluster_name) as cluster, memory.ledger(cluster) as ledger:
        if target is None:
            applied = list(ledger.active.values())
        else:
            applied = ledger.on(_target(cluster, f"link:{target}" if "-" in target else f"broker:{target}"))
            if not applied:
                raise UsageError(f"there is no fault on {target}; see `brokerlab fault list`")
        _heal(ledger, applied)
        output.say(f"{len(applied)} healed" if applied else "there was nothing to heal")


@fault.command("list")
@_cluster
@output.format_option
def list_(cluster_name: str | None, format_: str) -> None:
    """List the faults that are applied to a running cluster."""
    with attach(cluster_name) as cluster:
        rows = [msgspec.to_builtins(one) for one in memory.read(cluster.directory).applied]
    output.show(rows, format_, empty=f"no fault is applied; there are: {', '.join(faults.names())}")


def _apply(kind: str, target: str, args: dict[str, Any], cluster_name: str | None) -> None:
    with attach(cluster_name) as cluster, memory.ledger(cluster) as ledger:
        try:
            applied = ledger.apply(kind, _target(cluster, target), args)
        except Skipped as why:
            raise UsageError(f"{why}; see `brokerlab fault list`") from None
        output.say(f"{applied.id}: {kind} {applied.name}")


def _target(cluster: LiveCluster, target: str) -> str:
    """Under the name that the topology gives it: a link may be written from either end."""
    kind, _, name = target.partition(":")
    found = cluster.topology.link(name).name if kind == "link" else cluster.topology.broker(name).name
    return f"{kind}:{found}"


def _heal(ledger: Ledger, applied: Iterable[Fault]) -> None:
    """In the order that the ledger knows to be right."""
    chosen = list(applied)
    ledger.heal_some(chosen)

    def is_complete() -> bool:
        ledger.settle()
        return not ledger.healing

    names = ", ".join(one.name for one in chosen)
    with interrupts.as_interrupts():
        _wait(is_complete, f"{names}: not healed")


def _wait(condition: Any, what: str) -> None:
    give_up_at = time.monotonic() + HEALED_WITHIN_S
    while not condition():
        if time.monotonic() > give_up_at:
            raise BrokerlabError(f"{what} after {HEALED_WITHIN_S:g} s; see `brokerlab ps` and `brokerlab graph`")
        time.sleep(POLL_S)
