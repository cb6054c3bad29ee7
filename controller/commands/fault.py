"""`brokerlab fault`: break a running cluster, and mend it."""

from __future__ import annotations

import re
import time
import types
import typing
from collections.abc import Callable, Iterable
from random import Random
from typing import Any

import click
import msgspec
from msgspec import NODEFAULT
from msgspec.structs import FieldInfo, fields

from controller import faults, interrupts, output
from controller.cluster import LiveCluster, attach
from controller.errors import BrokerlabError, UsageError
from controller.faults import memory, targets
from controller.faults.base import Fault, FaultKind
from controller.faults.ledger import BITES_WITHIN_S, Ledger, Skipped
from controller.yamlfile import known

HEALED_WITHIN_S = 60.0
SEEN_WITHIN_S = 2 * BITES_WITHIN_S
POLL_S = 0.1
_ID = re.compile(r"f[0-9]+")

_cluster = click.option("--cluster", "cluster_name", metavar="NAME", help="Which cluster, if several are running.")


@click.group()
def fault() -> None:
    """Break and mend a running cluster."""


@fault.command()
@click.argument("broker")
@_cluster
def restart(broker: str, cluster_name: str | None) -> None:
    """Bring a killed BROKER back, or kill a living one and start it again; returns when it is ready."""
    with attach(cluster_name) as cluster, memory.ledger(cluster) as ledger:
        (target,) = _targets(cluster, faults.find("restart"), broker)
        name = target.partition(":")[2]
        killed = [one for one in ledger.on(target) if faults.find(one.kind).ends_broker]
        if not killed and cluster.runtime.state()[name] == "dead":
            # It fell by itself: there is no blow to record, only a broker to be started.
            cluster.runtime.start(name)
            _wait(lambda: cluster.is_ready(name), f"{name} is not ready", HEALED_WITHIN_S)
        else:
            _heal(ledger, killed or [ledger.apply("restart", target, {})])
        output.say(f"{name} is back and ready")


@fault.command()
@click.argument("broker")
@_cluster
def resume(broker: str, cluster_name: str | None) -> None:
    """Let a paused BROKER go on."""
    with attach(cluster_name) as cluster, memory.ledger(cluster) as ledger:
        (target,) = _targets(cluster, faults.find("pause"), broker)
        paused = [one for one in ledger.on(target) if one.kind == "pause"]
        if not paused:
            raise UsageError(f"{broker} is not paused; see `brokerlab fault list`")
        _heal(ledger, paused)


@fault.command()
@click.argument("target", required=False)
@click.option("--all", "all_", is_flag=True, help="Everything that is applied.")
@_cluster
def heal(target: str | None, all_: bool, cluster_name: str | None) -> None:
    """Heal every fault on TARGET, a link (A-B) or a broker, or the one of that id (f3); returns when it is complete."""
    if (target is None) != all_:
        raise UsageError("name a link, a broker or a fault's id to heal, or give --all")
    with attach(cluster_name) as cluster, memory.ledger(cluster) as ledger:
        chosen = ledger.open if target is None else _open(cluster, ledger, target)
        _heal(ledger, chosen)
        done = [one for one in chosen if one.id not in ledger.healing]
        output.say(f"{len(done)} healed" if chosen else "there was nothing to heal")


def _open(cluster: LiveCluster, ledger: Ledger, target: str) -> list[Fault]:
    """What is applied to the target, or not quite healed."""
    by_id = {one.id: one for one in ledger.open}
    if target in by_id:
        return [by_id[target]]
    if _ID.fullmatch(target) and target not in cluster.topology.broker_names:
        raise UsageError(f"no fault {target} is applied; {known(target, by_id)}; see `brokerlab fault list`")
    if ":" not in target:
        is_broker = target in cluster.topology.broker_names or "-" not in target
        target = f"broker:{target}" if is_broker else f"link:{target}"
    hit = targets.resolve(target, cluster.topology, Random())
    found = [one for one in ledger.open if one.target in hit]
    if not found:
        raise UsageError(f"there is no fault on {target.partition(':')[2]}; see `brokerlab fault list`")
    return found


@fault.command("list")
@_cluster
@output.format_option
def list_(cluster_name: str | None, format_: str) -> None:
    """List the faults that are applied to a running cluster."""
    with attach(cluster_name) as cluster:
        kept = memory.read(cluster.directory)
    states = (("applied", kept.applied), ("healing", kept.healing))
    rows = [{**msgspec.to_builtins(one), "state": state} for state, some in states for one in some]
    output.show(rows, format_, empty=f"no fault is applied; there are: {', '.join(faults.names())}")


def _command(kind: FaultKind) -> click.Command:
    """`brokerlab fault KIND TARGET [--argument VALUE]`, from what the kind says of itself."""

    def run(target: str, cluster_name: str | None, **given: Any) -> None:
        args = {name: value for name, value in given.items() if value is not None}
        with attach(cluster_name) as cluster, memory.ledger(cluster) as ledger:
            _apply(cluster, ledger, kind, target, args)

    made: Callable[..., Any] = _cluster(run)
    for one in reversed(fields(kind.Arguments)):
        made = _option(one)(made)
    made = click.argument("target", metavar=kind.hits.upper())(made)
    hint = "`fault restart` brings it back" if kind.ends_broker else "`fault heal` ends it"
    summary = kind.summary[0].upper() + kind.summary[1:]
    return click.command(kind.kind, help=f"{summary}. Returns when that was seen; {hint}.")(made)


def _option(one: FieldInfo) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    names = [f"--{one.name.replace('_', '-')}", one.name]
    if one.name == "delay_ms":
        names.insert(0, "--ms")
    choices = _choices(one.type)
    kind: Any = click.Choice(choices) if choices else int if _is_whole(one.type) else float
    return click.option(*names, type=kind, required=one.default is NODEFAULT)


def _choices(type_: Any) -> list[str]:
    return list(typing.get_args(type_)) if typing.get_origin(type_) is typing.Literal else []


def _is_whole(type_: Any) -> bool:
    parts = typing.get_args(type_) if typing.get_origin(type_) in (typing.Union, types.UnionType) else (type_,)
    bare = [typing.get_args(part)[0] if typing.get_origin(part) is typing.Annotated else part for part in parts]
    return float not in bare


def _apply(cluster: LiveCluster, ledger: Ledger, kind: FaultKind, target: str, args: dict[str, Any]) -> None:
    kind.check(args)
    applied = []
    for hit in _targets(cluster, kind, target):
        try:
            applied.append(ledger.apply(kind.kind, hit, args))
        except Skipped as why:
            raise UsageError(f"{why}; see `brokerlab fault list`") from None
        except BrokerlabError:
            _has_come(lambda: _is_settled(ledger), HEALED_WITHIN_S)
            raise
        output.say(f"{applied[-1].id}: {kind.kind} {applied[-1].name}")

    def is_seen() -> bool:
        ledger.settle()
        return all(one.id in ledger.hidden for one in ledger.unseen)

    with interrupts.as_interrupts():
        _has_come(is_seen, SEEN_WITHIN_S)
    for one in ledger.unseen:
        output.say(f"{one.id} is applied, but could not be measured: {ledger.hidden.get(one.id, 'it takes too long')}")
    if ledger.doubts:
        raise BrokerlabError("; ".join(ledger.doubts))


def _targets(cluster: LiveCluster, kind: FaultKind, target: str) -> tuple[str, ...]:
    """A plain name means what the kind hits first; anything else is a selector, as in a campaign."""
    selector = target if target.partition(":")[0] in ("broker", "link", "client") else None
    if kind.kind == "partition":
        selector = targets.for_partition(selector or f"broker:{target}")
    selector = selector or f"{kind.on[0]}:{target}"
    if selector.partition(":")[0] not in kind.on:
        raise UsageError(f"{kind.kind} hits a {kind.targets}, not `{target}`; write one of {targets.FORMS}")
    if selector.startswith("client:"):
        raise UsageError("the clients of a live cluster are your own programs; faults on clients are for campaigns")
    found = targets.resolve(selector, cluster.topology, Random())
    if found[0].startswith(targets.BUSIEST):
        return targets.busiest(found[0], cluster.statuses(cluster.brokers))
    return found


def _heal(ledger: Ledger, applied: Iterable[Fault]) -> None:
    """In the order that the ledger knows to be right."""
    ledger.heal_some(list(applied))

    with interrupts.as_interrupts():
        if not _has_come(lambda: _is_settled(ledger), HEALED_WITHIN_S):
            left = [f"{one.kind} {one.name} ({ledger.remaining.get(id_)})" for id_, one in ledger.healing.items()]
            raise BrokerlabError(f"not healed after {HEALED_WITHIN_S:g} s: {', '.join(left)}; see `brokerlab ps`")

    for id_, why in ledger.hidden.items():
        output.say(f"{id_} is not healed before others are: {why}")


def _is_settled(ledger: Ledger) -> bool:
    ledger.settle()
    return all(id_ in ledger.hidden for id_ in ledger.healing)


def _wait(condition: Callable[[], bool], what: str, within_s: float) -> None:
    if not _has_come(condition, within_s):
        raise BrokerlabError(f"{what} after {within_s:g} s; see `brokerlab ps` and `brokerlab graph`")


def _has_come(condition: Callable[[], bool], within_s: float) -> bool:
    give_up_at = time.monotonic() + within_s
    while not condition():
        if time.monotonic() > give_up_at:
            return False
        time.sleep(POLL_S)
    return True


for _kind in map(faults.find, faults.names()):
    if _kind.kind not in fault.commands:
        fault.add_command(_command(_kind))
