"""`brokerlab ps`: the nodes of running clusters."""

from __future__ import annotations

import time
from typing import Any

import click
from rich.text import Text

from controller import output, runtimes
from controller.cluster import live
from controller.commands.cluster import chosen
from controller.commands.options import cluster_option
from controller.errors import UsageError
from controller.runtimes import Found
from controller.watch import ClusterView, Observer
from controller.watch.grid import Column, Fitted
from controller.watch.log import first_t, last_t
from controller.watch.style import STYLES
from controller.watch.words import age, broker_state, number
from node.journal import log_files

NUMBERS = ("inc", "queue", "table", "unacked", "clients")
_COLUMNS = (
    Column("cluster", rank=3, most=24), Column("runtime", rank=6), Column("node", most=24), Column("role", rank=5),
    Column("status", most=44), Column("inc", rank=2, right=True), Column("queue", rank=1, right=True),
    Column("table", rank=1, right=True), Column("unacked", rank=4, right=True), Column("clients", rank=4, right=True),
)  # fmt: skip


@click.command()
@cluster_option
@output.format_option
def ps(cluster_name: str | None, format_: str) -> None:
    """Show the nodes of running clusters."""
    found = runtimes.discover()
    if cluster_name is not None:
        found = [chosen(found, cluster_name)]
    rows = [row for one in found for row in _rows(one)]
    if format_ == "json":
        output.show_json(rows)
    elif rows:
        output.print_rich(Fitted(_COLUMNS, [_cells(row) for row in rows]))
    else:
        output.say("no cluster is running; start one with `brokerlab up line-3`")


def _cells(row: dict[str, Any]) -> list[Text]:
    style = "" if row["state"] == "running" and not row["waiting_for"] else STYLES.get(row["state"], "yellow")
    words = [row["cluster"], row["runtime"], row["node"], row["role"] or "?"]
    return [*map(Text, words), Text(row["status"], style=style), *(Text(number(row[name])) for name in NUMBERS)]


def _rows(found: Found) -> list[dict[str, Any]]:
    try:
        cluster = live.read(found.directory)
    except UsageError as error:
        output.say(str(error))
        return [_row(found, node, None, {"state": state}) for node, state in found.nodes.items()]
    with cluster:
        view = Observer(cluster).look()
        told = _told(view)
        return [_row(found, node, role, told[node]) for node, role in cluster.facts.nodes.items()]


def _told(view: ClusterView) -> dict[str, dict[str, Any]]:
    """What is known of each node; of others than brokers only whether they run."""
    told: dict[str, dict[str, Any]] = {node: {"state": state} for node, state in view.nodes.items()}
    for broker in view.brokers:
        known = {name: getattr(broker, name) for name in (*NUMBERS, "faults")}
        is_asked = broker.inc is not None
        told[broker.name] |= {
            **known,
            "ready": broker.state != "not ready" if is_asked else None,
            "waiting_for": list(broker.waiting_for),
            "words": "" if broker.state == "up" else broker_state(broker),
        }
    return told


def _row(found: Found, node: str, role: str | None, told: dict[str, Any]) -> dict[str, Any]:
    since_t = _since_t(found, node, told["state"])
    return {
        "cluster": found.name,
        "runtime": found.runtime,
        "node": node,
        "role": role,
        "state": told["state"],
        "status": _status(told, since_t),
        "since_t": since_t,
        **{key: told.get(key) for key in ("ready", "waiting_for", *NUMBERS, "faults")},
    }


def _status(told: dict[str, Any], since_t: int | None) -> str:
    """As `docker ps` says it: `up 3 min`, `dead 12 s`; a broker that is not as it should be says how."""
    told_age = "" if since_t is None else " " + age((time.time_ns() - since_t) / 1e9)
    if told["state"] == "dead":
        return f"dead{told_age}"
    words = told.get("words") or ("paused" if told["state"] == "paused" else "")
    return f"up{told_age}" + (f", {words}" if words else "")


def _since_t(found: Found, node: str, state: str) -> int | None:
    """When the node's present life began, or how long it lived, by its log."""
    try:
        files = log_files(str(found.directory / "logs"), node)
        if not files:
            return None
        newest = files[max(files)]
        return last_t(newest) if state == "dead" else first_t(newest)
    except FileNotFoundError:
        return None
