"""The tree that schemes for acyclic overlays use on any overlay: every broker computes the same one by itself."""

from __future__ import annotations

import heapq
from collections.abc import Iterable

Weight = int | float
Edge = tuple[str, str]


def spanning_tree(brokers: Iterable[str], links: Iterable[tuple[str, str, Weight]]) -> frozenset[Edge]:
    """Edges `(a, b)` with `a < b` of a spanning tree of least weight; one tree per part if the overlay is in parts.

    Prim's algorithm from the least name. Among links of equal weight the one nearest to the start goes first, then
    names decide: with equal weights this is breadth-first search, so the tree is as shallow as the overlay allows.
    """
    neighbours = _neighbours(brokers, links)
    reached: set[str] = set()
    edges: set[Edge] = set()
    for start in sorted(neighbours):
        frontier: list[tuple[Weight, int, str, str]] = [(0, 0, start, start)]
        while frontier:
            _, depth, parent, broker = heapq.heappop(frontier)
            if broker in reached:
                continue
            reached.add(broker)
            if broker != parent:
                edges.add((min(parent, broker), max(parent, broker)))
            for weight, neighbour in neighbours[broker]:
                if neighbour not in reached:
                    heapq.heappush(frontier, (weight, depth + 1, broker, neighbour))
    return frozenset(edges)


def routes(here: str, tree: Iterable[Edge]) -> dict[str, str]:
    """Broker → the neighbour of `here` on the tree that leads to it."""
    beside: dict[str, list[str]] = {here: []}
    for a, b in sorted(tree):
        beside.setdefault(a, []).append(b)
        beside.setdefault(b, []).append(a)
    found: dict[str, str] = {}
    waiting = [(neighbour, neighbour) for neighbour in beside[here]]
    while waiting:
        broker, through = waiting.pop()
        if broker != here and broker not in found:
            found[broker] = through
            waiting.extend((other, through) for other in beside[broker])
    return found


def _neighbours(
    brokers: Iterable[str], links: Iterable[tuple[str, str, Weight]]
) -> dict[str, list[tuple[Weight, str]]]:
    neighbours: dict[str, list[tuple[Weight, str]]] = {broker: [] for broker in brokers}
    for a, b, weight in links:
        for end in (a, b):
            if end not in neighbours:
                raise ValueError(f"link {a}-{b} ends at {end}, which is not a broker of the overlay")
        neighbours[a].append((weight, b))
        neighbours[b].append((weight, a))
    return neighbours
