"""An overlay, resolved: every role, group, delay and weight is settled."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import msgspec

from controller.errors import UsageError
from controller.yamlfile import known
from node.core.overlay import spanning_tree
from node.shaping import Shape


class Broker(msgspec.Struct, frozen=True):
    name: str
    role: str
    group: str
    """Brokers of one group can stand in for each other; a broker named in none is a group of its own."""


class Link(msgspec.Struct, frozen=True):
    a: str
    b: str
    delay_ms: int | float = 0
    weight: int | float = 1
    jitter_ms: int | float = 0
    loss: int | float = 0
    rate_kbps: int | float | None = None

    @property
    def name(self) -> str:
        return f"{self.a}-{self.b}"

    @property
    def shape(self) -> Shape:
        """How both ends treat what they send, as long as nobody breaks the link."""
        return Shape(self.delay_ms, jitter_ms=self.jitter_ms, loss=self.loss, rate_kbps=self.rate_kbps)

    def joins(self, a: str, b: str) -> bool:
        return {self.a, self.b} == {a, b}


class Topology(msgspec.Struct, frozen=True, dict=True):
    name: str
    description: str
    brokers: tuple[Broker, ...]
    links: tuple[Link, ...]

    @cached_property
    def broker_names(self) -> tuple[str, ...]:
        return tuple(broker.name for broker in self.brokers)

    @cached_property
    def roles(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(broker.role for broker in self.brokers))

    @cached_property
    def groups(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(broker.group for broker in self.brokers))

    @cached_property
    def tree(self) -> frozenset[tuple[str, str]]:
        """The spanning tree that the brokers compute too; edges `(a, b)` with `a < b`."""
        return spanning_tree(self.broker_names, [(link.a, link.b, link.weight) for link in self.links])

    @cached_property
    def _by_name(self) -> dict[str, Broker]:
        return {broker.name: broker for broker in self.brokers}

    @cached_property
    def is_tree(self) -> bool:
        return len(self.links) == len(self.tree)

    @cached_property
    def left_out(self) -> tuple[Link, ...]:
        """The links that are not on the brokers' tree."""
        return tuple(link for link in self.links if (min(link.a, link.b), max(link.a, link.b)) not in self.tree)

    @cached_property
    def _links_of(self) -> dict[str, tuple[Link, ...]]:
        found: dict[str, list[Link]] = {name: [] for name in self.broker_names}
        for link in self.links:
            found[link.a].append(link)
            found[link.b].append(link)
        return {name: tuple(links) for name, links in found.items()}

    def links_of(self, name: str) -> tuple[Link, ...]:
        return self._links_of[self.broker(name).name]

    def neighbours(self, name: str) -> tuple[str, ...]:
        return tuple(link.b if name == link.a else link.a for link in self.links_of(name))

    def tree_neighbours(self, name: str) -> tuple[str, ...]:
        return tuple(other for other in self.neighbours(name) if (min(name, other), max(name, other)) in self.tree)

    def broker(self, name: str) -> Broker:
        if name in self._by_name:
            return self._by_name[name]
        raise UsageError(f"no broker `{name}` in {self.name}; {known(name, self.broker_names)}")

    def group(self, name: str) -> tuple[Broker, ...]:
        """The brokers that can stand in for each other under this name, in the topology's order."""
        found = tuple(broker for broker in self.brokers if broker.group == name)
        if not found:
            raise UsageError(f"no group `{name}` in {self.name}; {known(name, self.groups)}")
        return found

    def path(self, a: str, b: str) -> tuple[str, ...]:
        """The brokers from `a` to `b`, both included, on the tree that the brokers compute too."""
        start, end = self.broker(a).name, self.broker(b).name
        nearer = {end: end}
        waiting = [end]
        for name in waiting:
            for other in self.tree_neighbours(name):
                if other not in nearer:
                    nearer[other] = name
                    waiting.append(other)
        way = [start]
        while way[-1] != end:
            way.append(nearer[way[-1]])
        return tuple(way)

    def link(self, name: str) -> Link:
        """The link written `A-B`, in either direction."""
        for link in self.links:
            if name in (f"{link.a}-{link.b}", f"{link.b}-{link.a}"):
                return link
        raise UsageError(f"no link `{name}` in {self.name}; {known(name, [link.name for link in self.links])}")

    def to_json(self) -> dict[str, Any]:
        """`topology.json` of a run directory."""
        made: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(self))
        return made


def from_json(data: Any) -> Topology:
    """Back from `topology.json`; only brokers and links are asked for, other keys may be there."""
    return msgspec.convert({"name": "topology.json", "description": "", **data}, Topology)
