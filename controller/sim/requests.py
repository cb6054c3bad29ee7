"""What simulated nodes are asked beside their status: the words of the admin channel, in virtual time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from controller.errors import BrokerlabError, NoAnswer
from node.cast import Unplayable
from node.probing import Probe
from node.shaping import MS

if TYPE_CHECKING:
    from controller.sim.broker import SimBroker
    from controller.sim.cluster import SimNodes


def answer(nodes: SimNodes, node: str, op: str, arguments: dict[str, Any]) -> dict[str, Any]:
    if node in nodes.drivers:
        return _of_driver(nodes, node, op, arguments)
    broker = nodes.brokers[node]
    if not broker.is_alive or broker.is_paused:
        raise NoAnswer(f"{node} did not answer `{op}`")
    match op:
        case "leave":
            broker.leave()
        case "probe":
            _probe(nodes, broker, **arguments)
        case "probed":
            return msgspec.to_builtins(broker.probes.arrivals(arguments["token"]))
        case "effort":
            worked_ns = arguments["ms"] * MS
            return {"worked_ns": worked_ns, "took_ns": round(worked_ns / broker.strain.cpu_share)}
        case _:
            raise BrokerlabError(f"a simulated broker knows no operation `{op}`")
    return {}


def _of_driver(nodes: SimNodes, node: str, op: str, arguments: dict[str, Any]) -> dict[str, Any]:
    driver = nodes.drivers[node]
    try:
        if op == "away":
            driver.send_away(arguments["client"], arguments["how"])
        else:
            driver.call_back(arguments["client"])
    except Unplayable as error:
        raise BrokerlabError(f"{node} refused `{op}`: {error}") from None
    return {}


def _probe(nodes: SimNodes, broker: SimBroker, peer: str, token: str, count: int, size: int) -> None:
    """The line treats them as any frame; what the frames around them cost is not counted."""
    line, now = broker.lines[peer], nodes.kernel.now
    for number in range(count):
        for due in line.due(size, now):
            nodes.kernel.at(due + nodes.hop_ns, _arrive, nodes, broker, peer, Probe(token, number, now))


def _arrive(nodes: SimNodes, sender: SimBroker, peer: str, probe: Probe) -> None:
    receiver = nodes.brokers[peer]
    shapes = sender.lines[peer].shape, receiver.lines[sender.name].shape
    if receiver.is_alive and sender.is_alive and not shapes[0].cut and not shapes[1].deaf:
        receiver.probes.note(probe, nodes.kernel.now)
