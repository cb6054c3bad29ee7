"""The paper's own setting: one producer at the root, consumer nodes at the leaves, tables in between; links are FIFO.

Every message carries what it tells of, so that after each delivery the tables can be held against brute force.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

from node.core.filters import Filter
from node.core.messages import Port
from node.core.schemes.xroute.interface import Applied, Interface, Row, Step
from node.core.schemes.xroute.scheme import Table
from node.core.schemes.xroute.triples import Triple

Live = Counter[Filter]


class Told(NamedTuple):
    """What a node sent upstream: the triples, and as witnesses its tops and all that is live below it."""

    triples: list[Triple]
    tops: dict[Filter, Row]
    live: Live
    request: int


class Event(NamedTuple):
    number: int
    content: Any


def port(node: int) -> Port:
    return Port("broker", str(node))


def maximal(filters: set[Filter]) -> set[Filter]:
    return {each for each in filters if not any(other != each and other.covers(each) for other in filters)}


class TableTree:
    def __init__(self, parents: list[int], table: Callable[[], Table]) -> None:
        self.parents = parents
        self.children: dict[int, list[int]] = {node: [] for node in range(len(parents))}
        for node, parent in enumerate(parents[1:], 1):
            self.children[parent].append(node)
        self.leaves = [node for node, below in self.children.items() if not below and node]
        self.tables = {node: table() for node in range(len(parents))}
        self.interfaces = {node: {child: Interface() for child in below} for node, below in self.children.items()}
        self.live_below: dict[int, dict[int, Live]] = {
            node: {child: Counter() for child in below} for node, below in self.children.items()
        }
        self.registered: dict[int, Live] = {leaf: Counter() for leaf in self.leaves}
        self.up: dict[int, deque[Told]] = {node: deque() for node in range(1, len(parents))}
        self.down: dict[int, deque[Event]] = {node: deque() for node in range(1, len(parents))}
        self.settled: set[int] = set()
        self.arrived: dict[int, set[int]] = {}
        self.crossed: dict[int, set[int]] = {}
        self.requests = 0

    def register(self, leaf: int, filter: Filter, n: int = 1) -> int:
        """Registers n instances, or cancels them if n is negative; returns the request's number."""
        self.requests += 1
        self.registered[leaf][filter] += n
        assert self.registered[leaf][filter] >= 0
        out = self.tables[leaf].apply(port(leaf), Applied([Step(filter, n, 0)], {filter: Row(n, 0)}))
        self._send(leaf, out, self.requests)
        return self.requests

    def _live_at(self, node: int) -> Live:
        if node in self.registered:
            return +self.registered[node]
        return sum(self.live_below[node].values(), Counter())

    def _send(self, node: int, out: list[Triple], request: int) -> None:
        self.tables[node].check(f"node {node}")
        if node:
            self.up[node].append(Told(out, self.tables[node].told(), self._live_at(node), request))
        else:
            self.settled.add(request)

    def deliver(self, child: int) -> None:
        told = self.up[child].popleft()
        parent = self.parents[child]
        interface = self.interfaces[parent][child]
        applied = interface.apply(told.triples)
        self.live_below[parent][child] = told.live
        out = self.tables[parent].apply(port(child), applied)
        self._check_interface(interface, told)
        self._send(parent, out, told.request)

    def _check_interface(self, interface: Interface, told: Told) -> None:
        assert interface.rows == told.tops
        assert set(interface.rows) == maximal(set(told.live))
        assert {filter: row.n for filter, row in interface.rows.items()} == {f: told.live[f] for f in interface.rows}
        assert sum(row.population for row in interface.rows.values()) == told.live.total()

    def publish(self, content: Any) -> Event:
        event = Event(len(self.arrived), content)
        self.arrived[event.number] = set()
        self.crossed[event.number] = set()
        self._pass_on(0, event)
        return event

    def _pass_on(self, node: int, event: Event) -> None:
        for child, interface in self.interfaces[node].items():
            if any(filter.matches(event.content) for filter in interface.rows):
                self.crossed[event.number].add(child)
                self.down[child].append(event)

    def arrive(self, node: int) -> None:
        event = self.down[node].popleft()
        if node in self.registered:
            self.arrived[event.number].add(node)
        self._pass_on(node, event)

    def step(self, random: Random) -> bool:
        """One delivery somewhere; false if nothing is under way."""
        waiting = [(self.deliver, node) for node, queue in self.up.items() if queue]
        waiting += [(self.arrive, node) for node, queue in self.down.items() if queue]
        if not waiting:
            return False
        work, node = random.choice(waiting)
        work(node)
        return True

    def drain(self, random: Random) -> None:
        while self.step(random):
            pass

    def interested(self, content: Any) -> set[int]:
        return {
            leaf for leaf, live in self.registered.items() if any(n and f.matches(content) for f, n in live.items())
        }

    def ideal_links(self, leaves: set[int]) -> set[int]:
        """Each link named by its lower end."""
        links = set()
        for leaf in leaves:
            while leaf:
                links.add(leaf)
                leaf = self.parents[leaf]  # noqa: PLW2901 - climbing is the point
        return links

    def check_drained(self, contents: list[Any], random: Random) -> None:
        for content in contents:
            event = self.publish(content)
            self.drain(random)
            interested = self.interested(content)
            assert self.arrived[event.number] == interested, content
            assert self.crossed[event.number] == self.ideal_links(interested), content

    def state(self) -> Any:
        """Everything in every table, in an order that history does not decide."""
        return [
            {child: sorted(interface.rows.items()) for child, interface in below.items()}
            for below in self.interfaces.values()
        ]
