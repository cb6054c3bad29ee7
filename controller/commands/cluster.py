"""`brokerlab up|down|ps|graph|logs|clean|publish|subscribe`: a cluster that stays until it is told to go."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import click

from controller import interrupts, output, progress, runtimes
from controller import topology as topologies
from controller.cluster import ClusterSpec, LiveCluster, attach, launch, live
from controller.commands.options import with_option, with_words
from controller.commands.talk import publish, subscribe
from controller.errors import BrokerlabError, UsageError
from controller.files import tail
from controller.runtimes import Found
from controller.runtimes.base import Runtime
from controller.yamlfile import known
from node.journal import log_files

__all__ = ["clean", "down", "graph", "logs", "ps", "publish", "subscribe", "up"]

SCHEME = "covering-active"
NAME_BY_MAKE = "lab"

cluster_option = click.option(
    "--cluster", "cluster_name", metavar="NAME", help="Which cluster, if several are running."
)


@click.command()
@click.argument("topology")
@click.option("--scheme", default=SCHEME, show_default=True, help="Routing scheme, see `brokerlab scheme list`.")
@click.option("--runtime", default=runtimes.DEFAULT, show_default=True, help="Where brokers run: docker or process.")
@click.option("--name", help="The cluster's name; the topology's if left out.")
@click.option("--port", type=click.IntRange(1, 65535), help="The gateway's port on 127.0.0.1; a free one if left out.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True)
@with_option
def up(
    topology: str,
    scheme: str,
    runtime: str,
    name: str | None,
    port: int | None,
    seed: int,
    packages: tuple[str, ...],
) -> None:
    """Start a cluster of brokers after TOPOLOGY, and leave it running."""
    from controller.campaigns import store

    overlay = topologies.load(topology)
    chosen = name or overlay.name.lower()
    command = ["brokerlab", "up", topology, "--scheme", scheme, "--runtime", runtime, "--name", chosen]
    spec = ClusterSpec(
        name=chosen,
        runtime=runtime,
        scheme=scheme,
        topology=overlay,
        directory=store.choose_directory(chosen, seed),
        seed=seed,
        command=(*command, "--seed", str(seed), *(("--port", str(port)) if port else ()), *with_words(packages)),
        port=port,
        packages=packages,
    )
    with interrupts.as_interrupts(), launch.up(spec, progress.for_stderr()) as cluster:
        store.point_latest(spec.directory)
        click.echo(_what_next(cluster))


def _what_next(cluster: LiveCluster) -> str:
    first, middle, last = (cluster.brokers[place * (len(cluster.brokers) - 1) // 2] for place in range(3))
    made_here = "" if cluster.name == NAME_BY_MAKE else f" CLUSTER={cluster.name}"
    lines = [
        ("brokerlab ps", "its nodes"),
        ("brokerlab graph", "its links"),
        (f"brokerlab subscribe {last} 'price > 10'", "listen; best in a second terminal"),
        (f"""brokerlab publish {first} '{{"price": 12}}'""", "speak"),
        (f"brokerlab fault kill {middle}", "break it; see `brokerlab fault --help`"),
        (f"brokerlab down {cluster.name}", f"stop it; or `make cluster-down{made_here}`"),
    ]
    width = max(len(command) for command, _ in lines)
    return "\n".join(
        [
            f"cluster {cluster.name} is up: {len(cluster.brokers)} brokers, gateway {cluster.facts.gateway}",
            f"its files are in {cluster.directory}",
            "what to type next:",
            *(f"  {command:<{width}}   {what}" for command, what in lines),
        ]
    )


@click.command()
@click.argument("name", required=False)
@click.option("--all", "all_", is_flag=True, help="Every cluster that is running.")
def down(name: str | None, all_: bool) -> None:
    """Stop the cluster NAME (the only one, if left out); its run directory stays."""
    found = runtimes.discover()
    if all_ and name:
        raise UsageError("give a cluster's name or --all, not both")
    if not all_:
        found = [_chosen(found, name)]
    for one in found:
        _stop(one)
        output.say(f"cluster {one.name} is down; its logs are in {one.directory / 'logs'}")
    if not found:
        output.say("no cluster is running")


def _chosen(found: list[Found], name: str | None) -> Found:
    names = [one.name for one in found]
    if name is None and len(found) == 1:
        return found[0]
    if name is None:
        told = f"choose from: {', '.join(names)}, or --all" if names else "none is running"
        raise UsageError(f"which cluster? {told}")
    if name not in names:
        raise UsageError(f"no cluster `{name}` is running; {known(name, names)}")
    return found[names.index(name)]


def _stop(found: Found) -> None:
    """Orderly as far as it goes: a node that is dead or half made is removed all the same."""
    runtime = runtimes.find(found.runtime)(found.name, found.directory, dict.fromkeys(found.nodes, "unknown"))
    with interrupts.as_interrupts():
        try:
            runtime.stop_all(found.nodes)
        finally:
            with interrupts.shielded():
                runtime.down()


@click.command()
@cluster_option
@output.format_option
def ps(cluster_name: str | None, format_: str) -> None:
    """Show the nodes of running clusters."""
    found = runtimes.discover()
    if cluster_name is not None:
        found = [_chosen(found, cluster_name)]
    rows = [row for one in found for row in _rows(one)]
    output.show(rows, format_, empty="no cluster is running; start one with `brokerlab up line-3`")


def _rows(found: Found) -> list[dict[str, Any]]:
    try:
        cluster = live.read(found.directory)
    except UsageError as error:
        output.say(str(error))
        return [_row(found, node, "?", state, None) for node, state in found.nodes.items()]
    with cluster:
        states = cluster.runtime.state()
        asked = [name for name, role in cluster.facts.nodes.items() if role != "gateway" and states[name] == "running"]
        statuses = cluster.statuses(asked)
        return [_row(found, node, role, states[node], statuses.get(node)) for node, role in cluster.facts.nodes.items()]


def _row(found: Found, node: str, role: str, state: str, status: dict[str, Any] | None) -> dict[str, Any]:
    told = status or {}
    return {
        "cluster": found.name,
        "runtime": found.runtime,
        "node": node,
        "role": role,
        "state": state,
        **{key: told.get(key) for key in ("ready", "inc", "queue", "table", "clients")},
    }


@click.command()
@cluster_option
@output.format_option
def graph(cluster_name: str | None, format_: str) -> None:
    """Draw a running cluster with the state of its links."""
    with attach(cluster_name) as cluster:
        states = cluster.runtime.state()
        statuses = cluster.statuses([name for name in cluster.brokers if states[name] == "running"])
        rows = []
        for link in cluster.topology.links:
            ends = [_end(states, statuses, *pair) for pair in ((link.a, link.b), (link.b, link.a))]
            rows.append({"link": link.name, **_link_row(ends)})
        if format_ == "table":
            from controller.topology import drawing

            output.print_rich(drawing.drawing(cluster.topology))
            click.echo()
        output.show(rows, format_, empty="no links")


def _end(
    states: dict[str, runtimes.NodeState], statuses: dict[str, live.Status | None], broker: str, peer: str
) -> dict[str, Any]:
    status = statuses.get(broker)
    if status is None:
        return {"state": f"{broker} is {states[broker] if states[broker] != 'running' else 'silent'}", "delay_ms": None}
    end: dict[str, Any] = status["links"][peer]
    return {"state": "cut" if end["cut"] else end["state"], "delay_ms": end["delay_ms"]}


def _link_row(ends: list[dict[str, Any]]) -> dict[str, Any]:
    # A dead end explains that the other one sees the link down; a cut explains it too.
    told = min((end["state"] for end in ends), key=lambda word: {"up": 3, "down": 2, "cut": 1}.get(word, 0))
    return {"state": told, "delay_ms": max(end["delay_ms"] or 0 for end in ends)}


@click.command()
@click.argument("node")
@click.option("-f", "--follow", is_flag=True, help="Go on as more is written; Ctrl-C ends it.")
@click.option("-n", "--lines", type=click.IntRange(1), default=20, show_default=True)
@click.option("--records", is_flag=True, help="The records of its log, instead of what it says to operators.")
@cluster_option
def logs(node: str, follow: bool, lines: int, records: bool, cluster_name: str | None) -> None:
    """Show NODE's last lines."""
    with attach(cluster_name) as cluster:
        if node not in cluster.facts.nodes:
            raise UsageError(f"no node `{node}` in {cluster.name}; {known(node, cluster.facts.nodes)}")
        with interrupts.as_interrupts():
            for line in _records(cluster, node, lines, follow) if records else _said(cluster, node, lines, follow):
                click.echo(line)


def _said(cluster: LiveCluster, node: str, count: int, follow: bool) -> Iterable[str]:
    return cluster.runtime.follow(node, count) if follow else cluster.runtime.last_lines(node, count)


def _records(cluster: LiveCluster, node: str, count: int, follow: bool) -> Iterable[str]:
    """Of the newest incarnation."""
    found = log_files(str(cluster.directory / "logs"), node)
    return tail(found[max(found)], count, follow) if found else ()


@click.command()
@click.option("--images", is_flag=True, help="The images that brokerlab built, too.")
def clean(images: bool) -> None:
    """Remove every container, network and process of brokerlab, whoever started it."""
    removed: list[str] = []
    for name in runtimes.names():
        removed += _cleaned(runtimes.find(name))
    if images:
        from controller.image import remove_images

        removed += [f"image {name}" for name in remove_images()]
    for what in removed:
        click.echo(f"removed {what}")
    output.say(f"{len(removed)} things removed" if removed else "there was nothing to remove")


def _cleaned(runtime: type[Runtime]) -> list[str]:
    try:
        runtime.check()
    except BrokerlabError as error:
        output.say(f"{runtime.name}: {error}")
        return []
    return runtime.remove_all()
