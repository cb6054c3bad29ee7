"""A live cluster at one moment, as people and programs are shown it."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from controller.faults.base import Fault
from controller.runtimes.base import NodeState
from node.shaping import Shape

State = Literal["up", "not ready", "stalled", "silent", "paused", "dead"]
"""`stalled`: its disk takes nothing more. `silent`: it runs and does not answer."""
LinkState = Literal["up", "down", "cut", "dead end"]


class BrokerView(Struct, frozen=True, kw_only=True):
    name: str
    role: str
    state: State
    inc: int | None = None
    waiting_for: tuple[str, ...] = ()
    queue: int | None = None
    rate_hz: float | None = None
    """Messages handled per second since it was looked at before."""
    table: int | None = None
    unacked: int | None = None
    handled: int | None = None
    clients: int | None = None
    faults: tuple[str, ...] = ()
    """Kinds of the faults that are on it."""


class LinkView(Struct, frozen=True, kw_only=True):
    a: str
    b: str
    state: LinkState
    why: str = ""
    forth: Shape | None = None
    """How `a` treats what it sends to `b`; None if `a` cannot be asked."""
    back: Shape | None = None
    is_changed: bool = False
    """Its frames are treated otherwise than the topology says."""
    faults: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return f"{self.a}-{self.b}"

    @property
    def delay_ms(self) -> float:
        return max((shape.delay_ms for shape in (self.forth, self.back) if shape is not None), default=0)


class Event(Struct, frozen=True):
    t: int
    node: str
    event: str
    """The record's name."""
    text: str
    times: int = 1
    """Told so often, one after the other; `t` is the last time."""


class ClusterView(Struct, frozen=True, kw_only=True):
    cluster: str
    scheme: str
    topology: str
    runtime: str
    directory: str
    t: int
    started_t: int | None
    phase: str | None
    """The phase of a campaign that is under way."""
    brokers: tuple[BrokerView, ...]
    links: tuple[LinkView, ...]
    faults: tuple[Fault, ...]
    events: tuple[Event, ...]
    """The last ones, oldest first."""
    published: int | None = None
    delivered: int | None = None
    """By the drivers of a campaign; None if there are none."""
    nodes: dict[str, NodeState] = {}

    @property
    def is_gone(self) -> bool:
        return not any(state != "dead" for state in self.nodes.values())
