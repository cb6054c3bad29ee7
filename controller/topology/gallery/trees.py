"""Trees drawn as trees: rows from the top, columns from the left where there are many leaves, a star around its hub."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

from controller.topology.drawing import centre
from controller.topology.gallery.boxes import GAP_PX, HEIGHT_PX, Places, width_px
from controller.topology.model import Topology

LEAVES_IN_A_ROW_MAX = 16
ROW_PX = 70.0
BETWEEN_COLUMNS_PX = 46.0
LINE_PX = HEIGHT_PX + GAP_PX + 1
BETWEEN_TREES_PX = 10.0
PLAIN = ("inner", "leaf")

Children = dict[str, list[str]]


def line(topology: Topology) -> Places | None:
    """All in a row."""
    if not topology.is_tree or any(len(topology.neighbours(name)) > 2 for name in topology.broker_names):
        return None
    ends = [name for name in topology.broker_names if len(topology.neighbours(name)) < 2]
    order = topology.path(ends[0], ends[-1])
    step = max(map(width_px, order)) + BETWEEN_COLUMNS_PX
    return {name: (number * step, 0.0) for number, name in enumerate(order)}


def star(topology: Topology) -> Places | None:
    hub = max(topology.broker_names, key=lambda name: len(topology.neighbours(name)))
    others = topology.neighbours(hub)
    if not topology.is_tree or len(others) < len(topology.brokers) - 1 or len(others) < 3:
        return None
    radius = max(80.0, len(others) * (max(map(width_px, others)) + 2 * GAP_PX) / (2 * math.pi))
    return {hub: (0.0, 0.0), **around(others, (0.0, 0.0), radius)}


def tree(topology: Topology) -> Places | None:
    if not topology.is_tree:
        return None
    if spine := _spine(topology):
        return _stacked(topology, spine)
    root = centre({name: topology.neighbours(name) for name in topology.broker_names})
    children = children_of(root, topology.neighbours, {root})
    leaves = [name for name in children if not children[name]]
    return rows([root], children) if len(leaves) <= LEAVES_IN_A_ROW_MAX else columns([root], children)


def around(names: Sequence[str], middle: tuple[float, float], radius: float, start: float = -math.pi / 2) -> Places:
    angles = [start + 2 * math.pi * number / len(names) for number in range(len(names))]
    return {
        name: (middle[0] + radius * math.cos(angle), middle[1] + radius * math.sin(angle))
        for name, angle in zip(names, angles, strict=True)
    }


def children_of(root: str, neighbours: Callable[[str], Sequence[str]], seen: set[str]) -> Children:
    children: Children = {root: []}
    waiting = [root]
    for name in waiting:
        children[name] = [other for other in neighbours(name) if other not in seen]
        seen.update(children[name])
        children.update({child: [] for child in children[name]})
        waiting += children[name]
    return children


def rows(roots: Sequence[str], children: Children, width_of: Callable[[str], float] = width_px) -> Places:
    depth = _depths(roots, children)
    leaves = [name for name in _in_order(roots, children) if not children[name]]
    across: dict[str, float] = {}
    at = 0.0
    for leaf in leaves:
        at += width_of(leaf) / 2
        across[leaf] = at
        at += width_of(leaf) / 2 + 2 * GAP_PX
    _centred(roots, children, across)
    return {name: (across[name], depth[name] * ROW_PX) for name in across}


def columns(roots: Sequence[str], children: Children) -> Places:
    depth = _depths(roots, children)
    down: dict[str, float] = {}
    at = 0.0
    for root in roots:
        for name in _in_order([root], children):
            if not children[name]:
                down[name] = at
                at += LINE_PX
        at += BETWEEN_TREES_PX
    _centred(roots, children, down)
    widest = [max(width_px(name) for name in depth if depth[name] == level) for level in range(max(depth.values()) + 1)]
    left = [sum(widest[:level]) + level * BETWEEN_COLUMNS_PX for level in range(len(widest))]
    return {name: (left[depth[name]] + widest[depth[name]] / 2, down[name]) for name in down}


def _spine(topology: Topology) -> list[str] | None:
    """Brokers of a role of their own that stand in a row, as the cores of a chain do, or the heads of domains."""
    for role in topology.roles:
        row = [broker.name for broker in topology.brokers if broker.role == role]
        joined = [name for name, following in pairwise(row) if following in topology.neighbours(name)]
        if role not in PLAIN and len(row) > 2 and len(joined) == len(row) - 1:
            return row
    return None


def _stacked(topology: Topology, spine: list[str]) -> Places:
    children: Children = {}
    for name in spine:
        children |= children_of(name, topology.neighbours, set(spine))
    return columns(spine, children)


def _depths(roots: Sequence[str], children: Children) -> dict[str, int]:
    depth = dict.fromkeys(roots, 0)
    for name in _in_order(roots, children):
        depth.update(dict.fromkeys(children[name], depth[name] + 1))
    return depth


def _in_order(roots: Sequence[str], children: Children) -> list[str]:
    order, waiting = [], list(reversed(roots))
    while waiting:
        name = waiting.pop()
        order.append(name)
        waiting += reversed(children[name])
    return order


def _centred(roots: Sequence[str], children: Children, found: dict[str, float]) -> None:
    """Leaves have their places; every other broker stands in the middle of its children."""
    for name in reversed(_in_order(roots, children)):
        if children[name]:
            found[name] = (found[children[name][0]] + found[children[name][-1]]) / 2
