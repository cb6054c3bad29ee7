"""`brokerlab up|down|clean`: a cluster that stays until it is told to go."""

from __future__ import annotations

import click

from controller import interrupts, output, progress, runtimes
from controller import topology as topologies
from controller.cluster import ClusterSpec, LiveCluster, launch
from controller.commands.options import with_option, with_words
from controller.errors import BrokerlabError, UsageError
from controller.runtimes import Found
from controller.runtimes.base import Runtime
from controller.yamlfile import known

SCHEME = "covering-active"
NAME_BY_MAKE = "lab"


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
        (f"brokerlab watch {cluster.name}", "see it live; `ps`, `graph` and `logs` are there too"),
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
        found = [chosen(found, name)]
    for one in found:
        _stop(one)
        output.say(f"cluster {one.name} is down; its logs are in {one.directory / 'logs'}")
    if not found:
        output.say("no cluster is running")


def chosen(found: list[Found], name: str | None) -> Found:
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
