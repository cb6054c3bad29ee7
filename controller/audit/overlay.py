"""The overlay as topology.json tells it, and what a publication may do on it: who is behind which link, the ideal tree.

Sets of brokers are integers, a bit for each broker: a thousand brokers behind each of two thousand links fit that way.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from functools import cached_property

import msgspec

Hop = tuple[int, int]
_NOBODY = -1


class Link(msgspec.Struct):
    a: str
    b: str
    weight: float = 1.0
    rate_kbps: float | None = None


class Overlay(msgspec.Struct, dict=True):
    """`on_tree`: the scheme keeps to the spanning tree of least weight (docs/design.md, 'Topologies')."""

    brokers: list[str]
    links: list[Link]
    on_tree: bool

    @cached_property
    def number_of(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(sorted(self.brokers))}

    @cached_property
    def _weights(self) -> list[dict[int, float]]:
        """By broker: the least weight of a link to each neighbour."""
        beside: list[dict[int, float]] = [{} for _ in self.number_of]
        for link in self.links:
            a, b = self.number_of.get(link.a), self.number_of.get(link.b)
            if a is not None and b is not None and a != b:
                for here, there in ((a, b), (b, a)):
                    beside[here][there] = min(link.weight, beside[here].get(there, link.weight))
        return beside

    @cached_property
    def _used(self) -> list[list[int]]:
        """By broker: the neighbours that the scheme sends publications to."""
        if not self.on_tree:
            return [sorted(neighbours) for neighbours in self._weights]
        beside: list[list[int]] = [[] for _ in self.number_of]
        for broker, parent in self._grown():
            beside[broker].append(parent)
            beside[parent].append(broker)
        return [sorted(neighbours) for neighbours in beside]

    def _grown(self) -> Iterator[Hop]:
        """(broker, parent) of the least tree: from the least name; of equal weights the shallowest, then by name."""
        reached: set[int] = set()
        for start in range(len(self.number_of)):
            frontier: list[tuple[float, int, int, int]] = [(0, 0, start, start)]
            while frontier:
                _, depth, parent, broker = heapq.heappop(frontier)
                if broker in reached:
                    continue
                reached.add(broker)
                if broker != parent:
                    yield broker, parent
                for neighbour, weight in self._weights[broker].items():
                    if neighbour not in reached:
                        heapq.heappush(frontier, (weight, depth + 1, broker, neighbour))

    @cached_property
    def has_one_way(self) -> bool:
        """Is there one way only between any two brokers, as far as the scheme goes?"""
        return not any(
            self.behind[a, b] >> other & 1 for (a, b) in self.behind for other in self._used[a] if other != b
        )

    @cached_property
    def behind(self) -> dict[Hop, int]:
        """For each hop a → b, the brokers that b reaches without a."""
        return {(a, b): self._reach(b, a) for a, neighbours in enumerate(self._used) for b in neighbours}

    def _reach(self, start: int, without: int) -> int:
        reached = 1 << start
        waiting = [start]
        while waiting:
            for neighbour in self._used[waiting.pop()]:
                if neighbour != without and not reached >> neighbour & 1:
                    reached |= 1 << neighbour
                    waiting.append(neighbour)
        return reached

    @cached_property
    def _parents(self) -> dict[int, list[int]]:
        return {}

    def parents(self, root: int) -> list[int]:
        """The way home from everywhere: along the tree, or along shortest paths, of equal ones by the least name."""
        known = self._parents.get(root)
        if known is None:
            known = self._parents[root] = self._shortest(root)
        return known

    def _shortest(self, root: int) -> list[int]:
        parents = [_NOBODY] * len(self.number_of)
        waiting: list[tuple[float, int, int]] = [(0, root, root)]
        while waiting:
            far, parent, broker = heapq.heappop(waiting)
            if parents[broker] != _NOBODY:
                continue
            parents[broker] = parent
            for neighbour in self._used[broker]:
                if parents[neighbour] == _NOBODY:
                    heapq.heappush(waiting, (far + self._weights[broker][neighbour], broker, neighbour))
        return parents

    def ideal(self, root: int, wanted: int) -> set[Hop]:
        """The hops that a publication has to take from its broker to those that want it."""
        parents = self.parents(root)
        hops: set[Hop] = set()
        while wanted:
            broker = wanted.bit_length() - 1
            wanted ^= 1 << broker
            while broker != root and parents[broker] != _NOBODY and (parents[broker], broker) not in hops:
                hops.add((parents[broker], broker))
                broker = parents[broker]
        return hops
