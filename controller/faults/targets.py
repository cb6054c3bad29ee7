"""What a fault hits: selectors such as `broker:inner` or `link:random:2`, resolved into single targets."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase
from itertools import pairwise
from random import Random
from typing import Any

from controller.errors import UsageError
from controller.topology import Topology
from controller.yamlfile import known

FORMS = (
    "broker:NAME, broker:ROLE, broker:group:GROUP, broker:PATTERN (north*), broker:NAME,NAME, broker:random:N, "
    "broker:path:A-B, broker:busiest, broker:busiest:N, link:A-B, link:*, link:PATTERN, link:random:N, link:path:A-B, "
    "link:around:BROKERS, link:between:BROKERS|BROKERS, client:NAME, client:PATTERN, client:random:N; N is a number or "
    "a share such as 10%"
)
BUSIEST = "broker:busiest"


def resolve(
    selector: str, topology: Topology, random: Random, clients: Callable[[], tuple[str, ...]] = tuple
) -> tuple[str, ...]:
    """Each `broker:<name>`, `link:<a>-<b>` or `client:<name>`, as the log and the runtimes name them.

    Who is busiest is known only when the time has come: that is left as it is.
    """
    kind, _, which = selector.partition(":")
    if kind == "broker":
        if which.partition(":")[0] == "busiest":
            _check_busiest(which, topology)
            return (selector,)
        names = brokers(which, topology, random)
    elif kind == "link":
        names = _links(which, topology, random)
    elif kind == "client":
        names = _clients(which, clients(), random)
    else:
        raise UsageError(f"`{selector}` is not a target; write one of {FORMS}")
    return tuple(f"{kind}:{name}" for name in names)


def busiest(selector: str, statuses: dict[str, dict[str, Any] | None]) -> tuple[str, ...]:
    """The brokers that have handled most so far; of equals, the ones that are named first."""
    _, _, count = selector.removeprefix(BUSIEST).rpartition(":")
    handled = {name: status["handled"] for name, status in statuses.items() if status is not None}
    chosen = sorted(handled, key=lambda name: -handled[name])[: int(count or 1)]
    return tuple(f"broker:{name}" for name in chosen)


def for_partition(selector: str) -> str:
    """A partition is said by its brokers, and made on the links around them or between them."""
    kind, _, which = selector.partition(":")
    if kind != "broker":
        return selector
    return f"link:between:{which}" if "|" in which else f"link:around:{which}"


def brokers(which: str, topology: Topology, random: Random) -> tuple[str, ...]:
    names = topology.broker_names
    head, _, rest = which.partition(":")
    if "," in which:
        chosen = {name for part in which.split(",") for name in brokers(part.strip(), topology, random)}
        return tuple(name for name in names if name in chosen)
    if head == "random":
        return _chosen(which, "broker", names, random)
    if head == "group":
        return tuple(broker.name for broker in topology.group(rest))
    if head == "path":
        return _path(rest, topology)
    if _is_pattern(which):
        return _matching(which, "broker", names)
    if which in topology.roles:
        return tuple(broker.name for broker in topology.brokers if broker.role == which)
    if which not in names:
        roles = ", ".join(topology.roles)
        raise UsageError(f"no broker `{which}` in {topology.name}; {known(which, names)}; or a role: {roles}")
    return (which,)


def _links(which: str, topology: Topology, random: Random) -> tuple[str, ...]:
    names = tuple(link.name for link in topology.links)
    head, _, rest = which.partition(":")
    if not names:
        raise UsageError(f"{topology.name} has no links; choose a target of the form broker:NAME")
    if head == "random":
        return _chosen(which, "link", names, random)
    if head == "path":
        on = _path(rest, topology)
        return tuple(topology.link(f"{a}-{b}").name for a, b in pairwise(on))
    if head in ("around", "between"):
        return _between(rest, head == "around", topology, random)
    if _is_pattern(which):
        return _matching(which, "link", names)
    return (topology.link(which).name,)


def _between(which: str, is_around: bool, topology: Topology, random: Random) -> tuple[str, ...]:
    """Links whose ends are in two different ones of these sets; around one set: the rest is the other."""
    side: dict[str, int] = dict.fromkeys(topology.broker_names, 0) if is_around else {}
    for number, part in enumerate(which.split("|"), 1):
        for name in brokers(part.strip(), topology, random):
            if side.get(name, 0):
                raise UsageError(f"broker `{name}` is named on two sides of `{which}`")
            side[name] = number
    if len(set(side.values())) < 2:
        raise UsageError(f"`{which}` leaves nobody to be parted from; name fewer brokers, or two sets with `|` between")
    found = [link.name for link in topology.links if len({side.get(link.a), side.get(link.b)} - {None}) == 2]
    if not found:
        raise UsageError(f"no link is between the brokers of `{which}`")
    return tuple(found)


def _clients(which: str, names: tuple[str, ...], random: Random) -> tuple[str, ...]:
    if which.startswith("random:"):
        return _chosen(which, "client", names, random)
    if _is_pattern(which):
        return _matching(which, "client", names)
    if which not in names:
        raise UsageError(f"no client `{which}` in the workload; {known(which, names)}")
    return (which,)


def _path(which: str, topology: Topology) -> tuple[str, ...]:
    """Names may have a dash in them, so every dash is tried."""
    for at in (place for place, sign in enumerate(which) if sign == "-"):
        a, b = which[:at], which[at + 1 :]
        if a in topology.broker_names and b in topology.broker_names:
            return topology.path(a, b)
    raise UsageError(f"`path:{which}` names no two brokers of {topology.name}; write path:A-B")


def _check_busiest(which: str, topology: Topology) -> None:
    _, colon, count = which.partition(":")
    if colon and not (count.isascii() and count.isdigit() and 1 <= int(count) <= len(topology.brokers)):
        raise UsageError(f"`broker:{which}`: choose from 1 to {len(topology.brokers)}, such as `broker:busiest:2`")


def _is_pattern(which: str) -> bool:
    return "*" in which or "?" in which


def _matching(which: str, kind: str, names: Iterable[str]) -> tuple[str, ...]:
    found = tuple(name for name in names if fnmatchcase(name, which))
    if not found:
        raise UsageError(f"no {kind} is like `{which}`; {known(which, list(names))}")
    return found


def _chosen(which: str, kind: str, names: tuple[str, ...], random: Random) -> tuple[str, ...]:
    """That many, in the given order, so that the choice reads the same whatever order chance drew it in."""
    number, percent, rest = which.removeprefix("random:").partition("%")
    most = 100 if percent else len(names)
    if rest or not number.isascii() or not number.isdigit() or not 1 <= int(number) <= most:
        told = (
            f"choose from 1 to {len(names)} of the {kind}s, such as `{kind}:random:1`, or a share, `{kind}:random:10%`"
        )
        raise UsageError(f"`{kind}:{which}`: {told}")
    count = max(1, round(len(names) * int(number) / 100)) if percent else int(number)
    chosen = set(random.sample(names, count))
    return tuple(name for name in names if name in chosen)
