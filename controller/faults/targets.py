"""What a fault hits: selectors such as `broker:inner` or `link:random:2`, resolved into single targets."""

from __future__ import annotations

from random import Random

from controller.errors import UsageError
from controller.topology import Topology
from controller.yamlfile import known

FORMS = "broker:NAME, broker:ROLE, broker:*, broker:random:N, link:A-B, link:*, link:random:N"


def resolve(selector: str, topology: Topology, random: Random) -> tuple[str, ...]:
    """Each `broker:<name>` or `link:<a>-<b>`, as the log and the runtimes name them."""
    kind, _, which = selector.partition(":")
    if kind == "broker":
        names = _brokers(which, topology, random)
    elif kind == "link":
        names = _links(which, topology, random)
    else:
        raise UsageError(f"`{selector}` is not a target; write one of {FORMS}")
    return tuple(f"{kind}:{name}" for name in names)


def _brokers(which: str, topology: Topology, random: Random) -> tuple[str, ...]:
    names = topology.broker_names
    if which == "*":
        return names
    if which.startswith("random:"):
        return _chosen(which, "broker", names, random)
    if which in topology.roles:
        return tuple(broker.name for broker in topology.brokers if broker.role == which)
    if which not in names:
        roles = ", ".join(topology.roles)
        raise UsageError(f"no broker `{which}` in {topology.name}; {known(which, names)}; or a role: {roles}")
    return (which,)


def _links(which: str, topology: Topology, random: Random) -> tuple[str, ...]:
    names = tuple(link.name for link in topology.links)
    if which == "*":
        if not names:
            raise UsageError(f"{topology.name} has no links; choose a target of the form broker:NAME")
        return names
    if which.startswith("random:"):
        return _chosen(which, "link", names, random)
    return (topology.link(which).name,)


def _chosen(which: str, kind: str, names: tuple[str, ...], random: Random) -> tuple[str, ...]:
    """That many, in the topology's order, so that the choice reads the same whatever order chance drew it in."""
    count = which.removeprefix("random:")
    if not count.isascii() or not count.isdigit() or not 1 <= int(count) <= len(names):
        raise UsageError(f"`{kind}:{which}`: choose from 1 to {len(names)} of the {kind}s, such as `{kind}:random:1`")
    chosen = set(random.sample(names, int(count)))
    return tuple(name for name in names if name in chosen)
