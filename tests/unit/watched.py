"""Views of clusters, made up."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from controller.faults.base import Fault
from controller.watch.model import BrokerView, ClusterView, Event, LinkView
from node.shaping import Shape

S = 1_000_000_000
NOW = 1_795_000_000 * S


def broker(name: str, state: str = "up", **more: Any) -> BrokerView:
    is_asked = state in ("up", "not ready", "stalled")
    told = {"inc": 1, "queue": 0, "rate_hz": 12.0, "table": 3, "unacked": 0, "handled": 1234, "clients": 2}
    return BrokerView(name=name, role="inner", state=state, **((told if is_asked else {}) | more))  # type: ignore[arg-type]


def link(a: str, b: str, state: str = "up", **more: Any) -> LinkView:
    return LinkView(a=a, b=b, state=state, **({"forth": Shape(), "back": Shape()} | more))  # type: ignore[arg-type]


def event(seconds: int, node: str = "b1", text: str = "link to b2 down: silence") -> Event:
    return Event(NOW + seconds * S, node, "link", text)


def view(brokers: list[BrokerView], links: list[LinkView] | None = None, **more: Any) -> ClusterView:
    made: dict[str, Any] = {
        "cluster": "lab", "scheme": "simple", "topology": "line-3", "runtime": "process", "directory": "/runs/lab",
        "t": NOW, "started_t": NOW - 200 * S, "phase": None, "brokers": tuple(brokers), "links": tuple(links or ()),
        "faults": (), "events": (), "nodes": {one.name: "running" for one in brokers},
    }  # fmt: skip
    return ClusterView(**(made | more))


def line(size: int, **more: Any) -> ClusterView:
    names = [f"b{number}" for number in range(1, size + 1)]
    links = [link(a, b) for a, b in pairwise(names)]
    return view([broker(name) for name in names], links, **more)


KILL = Fault("f1", "kill", "broker:b2")
