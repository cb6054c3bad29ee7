"""A running cluster as the faults see it. Remembers how each link should be; a restarted broker does not."""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct

from controller.faults.base import Fault, Wish
from controller.runtimes.base import Nodes
from controller.topology import Link, Topology


class Cluster(Protocol):
    """The part of a live cluster that is asked to break."""

    @property
    def runtime(self) -> Nodes: ...
    @property
    def topology(self) -> Topology: ...
    def is_ready(self, broker: str) -> bool: ...
    def answers(self, broker: str) -> bool: ...
    def shape(self, broker: str, peer: str, delay_ms: float, cut: bool) -> None: ...


class LinkShape(Struct, frozen=True):
    delay_ms: float
    cut: bool


class ClusterLab:
    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._wishes: dict[str, tuple[Fault, Wish]] = {}
        self._unshaped: set[str] = set()

    def recall(self, fault: Fault, wish: Wish) -> None:
        """An earlier command shaped this link; the brokers know, only this process does not."""
        self._wishes[fault.id] = (fault, wish)

    def kill(self, broker: str) -> None:
        self._cluster.runtime.kill(broker)

    def start(self, broker: str) -> None:
        self._unshaped.add(broker)
        self._cluster.runtime.start(broker)

    def pause(self, broker: str) -> None:
        self._cluster.runtime.pause(broker)

    def resume(self, broker: str) -> None:
        self._cluster.runtime.resume(broker)
        if self._cluster.runtime.state()[broker] == "running":
            self._shape_again(broker)

    def is_ready(self, broker: str) -> bool:
        """A broker that came back without the shapes of its links is not: it would talk over a link that is cut."""
        if broker in self._unshaped:
            if not self._cluster.answers(broker):
                return False
            self._shape_again(broker)
            self._unshaped.discard(broker)
        return self._cluster.is_ready(broker)

    def shape(self, fault: Fault, wish: Wish) -> None:
        self._wishes[fault.id] = (fault, wish)
        self._shape_both_ends(fault.name)

    def unshape(self, fault: Fault) -> None:
        self._wishes.pop(fault.id, None)
        self._shape_both_ends(fault.name)

    def wanted(self, link: Link) -> LinkShape:
        delay_ms, cut = float(link.delay_ms), False
        for fault, wish in self._wishes.values():
            if link.name == fault.name:
                delay_ms = delay_ms if wish.delay_ms is None else wish.delay_ms
                cut = cut if wish.cut is None else wish.cut
        return LinkShape(delay_ms, cut)

    def _shape_both_ends(self, name: str) -> None:
        link = self._cluster.topology.link(name)
        states = self._cluster.runtime.state()
        for broker in (link.a, link.b):
            # One that is dead or paused hears of it when it comes back.
            if states[broker] == "running" and broker not in self._unshaped:
                self._shape_end(link, broker)

    def _shape_again(self, broker: str) -> None:
        shaped = {fault.name for fault, _ in self._wishes.values()}
        for link in self._cluster.topology.links:
            if broker in (link.a, link.b) and link.name in shaped:
                self._shape_end(link, broker)

    def _shape_end(self, link: Link, broker: str) -> None:
        shape = self.wanted(link)
        self._cluster.shape(broker, link.b if broker == link.a else link.a, shape.delay_ms, shape.cut)
