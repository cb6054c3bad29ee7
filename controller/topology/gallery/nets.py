"""Overlays with cycles: rings and grids as such, groups and domains together, all others by their distances."""

from __future__ import annotations

import math
import re

from controller.topology.gallery.boxes import HEIGHT_PX, Places, Point, parted, width_px
from controller.topology.gallery.trees import BETWEEN_COLUMNS_PX, around, children_of, rows
from controller.topology.model import Topology

HOP_PX = 72.0
ROUNDS = 150
GRID_ROW_PX = 62.0
BETWEEN_DOMAINS_PX = 70.0

_CELL = re.compile(r"\D+(\d+)_(\d+)")


def ring(topology: Topology) -> Places | None:
    if topology.is_tree or any(len(topology.neighbours(name)) != 2 for name in topology.broker_names):
        return None
    order = [topology.broker_names[0]]
    while further := [name for name in topology.neighbours(order[-1]) if name not in order]:
        order.append(further[0])
    widest = max(map(width_px, order))
    return around(order, (0.0, 0.0), max(90.0, len(order) * (widest + BETWEEN_COLUMNS_PX / 2) / (2 * math.pi)))


def grid(topology: Topology) -> Places | None:
    """Brokers named after their row and column, all linked to the next ones only."""
    cells = {name: cell for name in topology.broker_names if (cell := _CELL.fullmatch(name))}
    if topology.is_tree or len(cells) < len(topology.brokers):
        return None
    at = {name: (int(cell[2]), int(cell[1])) for name, cell in cells.items()}
    if any(abs(at[link.a][0] - at[link.b][0]) + abs(at[link.a][1] - at[link.b][1]) != 1 for link in topology.links):
        return None
    step = max(map(width_px, at)) + BETWEEN_COLUMNS_PX
    return {name: (column * step, row * GRID_ROW_PX) for name, (column, row) in at.items()}


def groups(topology: Topology) -> Places | None:
    """Brokers that stand in for each other side by side, the groups as a tree where they are one."""
    if len(topology.groups) == len(topology.brokers):
        return None
    members = {group: [one.name for one in topology.group(group)] for group in topology.groups}
    of = {broker.name: broker.group for broker in topology.brokers}
    beside: dict[str, dict[str, None]] = {group: {} for group in members}
    for link in topology.links:
        if of[link.a] != of[link.b]:
            beside[of[link.a]][of[link.b]] = None
            beside[of[link.b]][of[link.a]] = None
    if sum(map(len, beside.values())) != 2 * (len(members) - 1):
        return None
    root = topology.groups[0]
    children = children_of(root, lambda group: list(beside[group]), {root})
    widths = {group: sum(width_px(name) + 10 for name in names) for group, names in members.items()}
    middles = rows([root], children, lambda group: widths[group] + 6)
    found: Places = {}
    for group, names in members.items():
        x, y = middles[group]
        left = x - widths[group] / 2
        for name in names:
            found[name] = (left + width_px(name) / 2 + 5, y * 1.25)
            left += width_px(name) + 10
    return found


def by_distance(topology: Topology) -> Places:
    """Distances on the page as near as can be to hops in the overlay (stress majorization, near ones counting most)."""
    names = topology.broker_names
    hops = {name: hops_from(topology, name) for name in names}
    places = _first(topology, hops)
    for _ in range(ROUNDS):
        places = {name: _moved(name, places, hops[name]) for name in names}
    return parted({name: (HOP_PX * 1.25 * x, HOP_PX * y) for name, (x, y) in places.items()})


def hops_from(topology: Topology, start: str) -> dict[str, int]:
    hops = {start: 0}
    waiting = [start]
    for name in waiting:
        for other in topology.neighbours(name):
            if other not in hops:
                hops[other] = hops[name] + 1
                waiting.append(other)
    return hops


def _first(topology: Topology, hops: dict[str, dict[str, int]]) -> Places:
    """Around the broker that is nearest to all, everyone in the direction of whom they hang on."""
    middle = min(topology.broker_names, key=lambda name: max(hops[name].values()))
    children = children_of(middle, topology.neighbours, {middle})
    order, waiting = [], [middle]
    while waiting:
        name = waiting.pop()
        order.append(name)
        waiting += reversed(children[name])
    return {
        name: point
        for number, name in enumerate(order)
        for point in [_polar(hops[middle][name], 2 * math.pi * number / len(order))]
    }


def _polar(radius: float, angle: float) -> Point:
    return (radius * math.cos(angle), radius * math.sin(angle))


def _moved(name: str, places: Places, hops: dict[str, int]) -> Point:
    """To where all others would have it, each at its distance in the direction it is in now."""
    x, y = places[name]
    to_x = to_y = weights = 0.0
    for other, distance in hops.items():
        if other == name:
            continue
        ox, oy = places[other]
        away = max(1e-6, math.hypot(x - ox, y - oy))
        weight = distance**-2
        to_x += weight * (ox + distance * (x - ox) / away)
        to_y += weight * (oy + distance * (y - oy) / away)
        weights += weight
    # Half the way: all move at once, and would swing to and fro.
    return ((x + to_x / weights) / 2, (y + to_y / weights) / 2)


def domains(topology: Topology) -> Places | None:
    """Transit domains in the middle, each stub domain a cluster of its own outside of the broker it hangs on."""
    transit = [broker.name for broker in topology.brokers if broker.role == "transit"]
    if not transit:
        return None
    stubs = _clusters(topology, transit)
    hangs_on = {key: _gateway(topology, names, transit) for key, names in stubs.items()}
    order = [key for gateway in transit for key in stubs if hangs_on[key] == gateway]
    sizes = [_radius(stubs[key]) for key in order]
    rim = max(150.0, sum(2 * size + BETWEEN_DOMAINS_PX for size in sizes) / (2 * math.pi))
    found: Places = {}
    toward: dict[str, list[float]] = {}
    angle = -math.pi / 2
    for before, (key, size) in zip([0.0, *sizes], zip(order, sizes, strict=True), strict=False):
        angle += (before + size + BETWEEN_DOMAINS_PX) / rim if found else 0.0
        middle = _polar(rim + size, angle)
        found |= around(stubs[key], middle, size, angle) if len(stubs[key]) > 1 else {stubs[key][0]: middle}
        toward.setdefault(hangs_on[key], []).append(angle)
    for name in transit:
        angles = toward.get(name, [0.0])
        found[name] = _polar(0.45 * rim, sum(angles) / len(angles))
    return parted(found)


def domain_of(name: str) -> str:
    return name.rpartition("_")[0]


def _clusters(topology: Topology, transit: list[str]) -> dict[str, list[str]]:
    """Stub domains with the edge brokers that hang on them, each next to its own."""
    found: dict[str, list[str]] = {}
    for broker in topology.brokers:
        if broker.name not in transit and broker.role == "stub":
            found.setdefault(domain_of(broker.name), []).append(broker.name)
    for broker in topology.brokers:
        if broker.role not in ("transit", "stub"):
            place = next(iter(topology.neighbours(broker.name)))
            names = found[domain_of(place)]
            names.insert(names.index(place) + 1, broker.name)
    return found


def _gateway(topology: Topology, names: list[str], transit: list[str]) -> str:
    named = "t" + domain_of(names[0])[1:].rpartition("_")[0]
    if named in transit:
        return named
    linked = {other for name in names for other in topology.neighbours(name)}
    return next((name for name in transit if name in linked), transit[0])


def _radius(names: list[str]) -> float:
    if len(names) == 1:
        return HEIGHT_PX
    return max(26.0, len(names) * 0.72 * max(map(width_px, names)) / (2 * math.pi) + 10)
