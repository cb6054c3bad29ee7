"""Where each broker stands in the drawing: trees grow from their centre, other overlays by stress majorization.

Positions are fractions of the drawing's box, so that one drawing fits a wide screen and a telephone; `width_min_px`
says below which width it would rather be scrolled than squeezed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import networkx as nx
import numpy as np

from controller.audit.report.model import Broker, Link
from controller.text import natural

Point = tuple[float, float]
Side = Literal["above", "below", "left", "right", "outward"]

LEAVES_IN_ROWS_MAX = 24
LABEL_LETTERS_MAX = 14
LETTER_PX = 6.6
WIDE_PX = 1040
UNSCROLLED_PX = 860
NARROW_PX = 320


@dataclass(frozen=True)
class Layout:
    shape: Literal["line", "rows", "rings", "net"]
    places: dict[str, Point]
    sides: dict[str, Side]
    height_px: int
    width_min_px: int
    staggered: frozenset[str] = frozenset()


def lay_out(brokers: tuple[Broker, ...], links: tuple[Link, ...]) -> Layout:
    graph = nx.Graph()
    graph.add_nodes_from(sorted((broker.name for broker in brokers), key=natural))
    graph.add_edges_from((link.a, link.b) for link in links if link.a in graph and link.b in graph)
    if not len(graph):
        return Layout("net", {}, {}, 0, 0)
    if nx.is_tree(graph):
        return _tree(graph)
    return _net(graph)


def label_px(name: str) -> float:
    return min(len(name), LABEL_LETTERS_MAX) * LETTER_PX


def _tree(graph: nx.Graph) -> Layout:
    root = min(nx.center(graph), key=lambda name: (-graph.degree(name), natural(name)))
    if len(graph) <= 12 and max(degree for _, degree in graph.degree()) <= 2:
        return _line(graph)
    children = _children(graph, root)
    leaves = [name for name in _depth_first(children, root) if not children[name]]
    if len(leaves) <= LEAVES_IN_ROWS_MAX:
        return _rows(children, root, leaves)
    return _rings(children, root, leaves)


def _children(graph: nx.Graph, root: str) -> dict[str, list[str]]:
    children: dict[str, list[str]] = {root: []}
    waiting = [root]
    for name in waiting:
        children[name] = sorted((other for other in graph[name] if other not in children), key=natural)
        children.update((child, []) for child in children[name])
        waiting += children[name]
    return children


def _depth_first(children: dict[str, list[str]], root: str) -> list[str]:
    order, stack = [], [root]
    while stack:
        name = stack.pop()
        order.append(name)
        stack += reversed(children[name])
    return order


def _spread(children: dict[str, list[str]], root: str) -> tuple[dict[str, float], dict[str, int]]:
    """Leaves side by side at equal distances, every other broker in the middle of its children; and the depths."""
    order = _depth_first(children, root)
    depth = {root: 0}
    for name in order:
        depth.update((child, depth[name] + 1) for child in children[name])
    across: dict[str, float] = {}
    leaves = [name for name in order if not children[name]]
    for position, leaf in enumerate(leaves):
        across[leaf] = (position + 0.5) / len(leaves)
    for name in reversed(order):
        if children[name]:
            across[name] = (across[children[name][0]] + across[children[name][-1]]) / 2
    return across, depth


def _line(graph: nx.Graph) -> Layout:
    ends = sorted((name for name, degree in graph.degree() if degree <= 1), key=natural)
    order = list(nx.dfs_preorder_nodes(graph, ends[0]))
    places = {name: ((position + 0.5) / len(order), 0.45) for position, name in enumerate(order)}
    return Layout("line", places, dict.fromkeys(order, "below"), 130, _width_needed(order, 1))


def _rows(children: dict[str, list[str]], root: str, leaves: list[str]) -> Layout:
    across, depth = _spread(children, root)
    deepest = max(depth.values())
    places = {name: (across[name], depth[name] / max(1, deepest)) for name in across}
    sides: dict[str, Side] = dict.fromkeys(across, "below")
    # The line from above comes in from the parent's side, so the label stands on the other.
    for parent, below in children.items():
        sides.update((name, "left" if across[name] < across[parent] else "right") for name in below if children[name])
    sides[root] = "above" if len(children) > 1 else "below"
    crowded = sum(label_px(name) + 10 for name in leaves) > NARROW_PX
    staggered = frozenset(leaves[1::2]) if crowded else frozenset()
    return Layout("rows", places, sides, 110 * deepest + 20, _width_needed(leaves, 2 if crowded else 1), staggered)


def _width_needed(labels: list[str], rows: int) -> int:
    return min(UNSCROLLED_PX, math.ceil(max(label_px(name) + 8 for name in labels) * len(labels) / rows))


def _rings(children: dict[str, list[str]], root: str, leaves: list[str]) -> Layout:
    across, depth = _spread(children, root)
    deepest = max(depth.values())
    places = {}
    for name in across:
        angle = 2 * math.pi * across[name] - math.pi / 2
        radius = 0.5 * depth[name] / deepest
        places[name] = (0.5 + radius * math.cos(angle), 0.5 + radius * math.sin(angle))
    sides: dict[str, Side] = dict.fromkeys(places, "outward")
    sides[root] = "above"
    return Layout("rings", places, sides, min(900, 380 + 4 * len(leaves)), min(UNSCROLLED_PX, 12 * len(leaves)))


def _net(graph: nx.Graph) -> Layout:
    names = list(graph)
    points = _stress_majorized(graph, names)
    points -= points.mean(axis=0)
    _, _, axes = np.linalg.svd(points, full_matrices=False)
    # The longest extent lies along the page; the sign is fixed so that the same overlay is always drawn the same way.
    axes *= np.where(axes[:, :1] < 0, -1.0, 1.0)
    points = points @ axes.T
    extent = points.max(axis=0) - points.min(axis=0)
    flat = extent < 1e-6 * max(1.0, float(extent.max()))
    extent[flat] = 1.0
    height_px = 100 if flat[1] else 300 if len(names) <= 12 else min(820, 320 + 4 * len(names))
    # A ring stays nearly round instead of being pulled out to the width of the page.
    stretch = min(1.0, 2.2 * height_px * (extent[0] / extent[1]) / WIDE_PX) if len(names) > 1 else 1.0
    unit = np.where(flat, 0.5, (points - points.min(axis=0)) / extent)
    places = {
        name: (float(0.5 + (unit[row, 0] - 0.5) * stretch), float(unit[row, 1])) for row, name in enumerate(names)
    }
    sides: dict[str, Side] = {name: "above" if places[name][1] < 0.5 else "below" for name in names}
    return Layout("net", places, sides, height_px, min(UNSCROLLED_PX, 14 * len(names)))


def _stress_majorized(graph: nx.Graph, names: list[str], rounds: int = 120) -> np.ndarray:
    """Distances on the page as near as possible to hops in the overlay (SMACOF with weights hops^-2)."""
    size = len(names)
    if size == 1:
        return np.zeros((1, 2))
    hops = np.full((size, size), np.inf)
    index = {name: row for row, name in enumerate(names)}
    for name, reached in nx.all_pairs_shortest_path_length(graph):
        for other, distance in reached.items():
            hops[index[name], index[other]] = distance
    finite = hops[np.isfinite(hops)]
    hops[~np.isfinite(hops)] = finite.max() + 1.5
    np.fill_diagonal(hops, 1)
    weights = hops**-2.0
    np.fill_diagonal(weights, 0)
    laplacian = np.diag(weights.sum(axis=1)) - weights
    inverse = np.linalg.inv(laplacian + 1.0 / size)
    points = _classical_scaling(hops)
    for _ in range(rounds):
        between = np.linalg.norm(points[:, None] - points[None, :], axis=2)
        np.fill_diagonal(between, 1)
        ratios = -weights * hops / np.maximum(between, 1e-9)
        np.fill_diagonal(ratios, 0)
        np.fill_diagonal(ratios, -ratios.sum(axis=1))
        points = inverse @ (ratios @ points)
    return points


def _classical_scaling(hops: np.ndarray) -> np.ndarray:
    """A start that needs no chance: the two strongest axes of the distances, nudged apart where they coincide."""
    squared = hops**2.0
    np.fill_diagonal(squared, 0)
    centred = -0.5 * (squared - squared.mean(axis=0) - squared.mean(axis=1)[:, None] + squared.mean())
    values, vectors = np.linalg.eigh(centred)
    points = vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 0))
    turns = np.arange(len(points)) * 2.399963
    return np.asarray(points + 0.05 * np.column_stack([np.cos(turns), np.sin(turns)]))
