"""Topologies for the eye: a tree in the terminal, and Graphviz."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text
from rich.tree import Tree

from controller.topology.model import Link, Topology

_COLOURS = ("cyan", "green", "yellow", "magenta", "blue", "red")
_FILLS = ("#cfe8f3", "#d5f0d0", "#fdf3c7", "#f3d4ee", "#d4dcf7", "#f7d4d4")


def drawing(topology: Topology) -> RenderableType:
    """The spanning tree as a tree, the links it leaves out beneath."""
    drawn, left_out = tree(topology, lambda name, link: _label(topology, name, link))
    told = Text(f"{topology.name}: {topology.description}\n")
    also = ", ".join(f"{link.name}{_remarks(link)}" for link in left_out)
    beneath: list[RenderableType] = (
        [Text("also linked:"), Padding(Text(also), (0, 0, 0, 2), expand=False)] if also else []
    )
    return Group(told, drawn, *beneath, Text(f"\n{summary(topology)}", style="dim"))


def tree(topology: Topology, label: Callable[[str, Link | None], Text]) -> tuple[Tree, tuple[Link, ...]]:
    """The spanning tree, each broker labelled together with the link that leads to it; and the links it leaves out."""
    children = {name: topology.tree_neighbours(name) for name in topology.broker_names}
    start = centre(children)
    drawn = Tree(label(start, None))
    waiting = [(drawn, start, "")]
    while waiting:
        branch, name, parent = waiting.pop()
        for child in children[name]:
            if child != parent:
                twig = branch.add(label(child, topology.link(f"{name}-{child}")))
                waiting.append((twig, child, name))
    return drawn, topology.left_out


def summary(topology: Topology) -> str:
    """How large it is, and what the brokers' own tree makes of it."""
    counts = f"{_counted(len(topology.brokers), 'broker')}, {_counted(len(topology.links), 'link')}"
    if topology.is_tree:
        return f"{counts}: a tree"
    left_out = _counted(len(topology.left_out), "link")
    return f"{counts}: not a tree; the overlay's own tree leaves out {left_out}"


def dot(topology: Topology) -> str:
    colour = {role: _FILLS[index % len(_FILLS)] for index, role in enumerate(topology.roles)}
    lines = [f'graph "{topology.name}" {{', '  node [shape=box, style="rounded,filled", fontname="sans-serif"];']
    lines += [f'  "{one.name}" [fillcolor="{colour[one.role]}", tooltip="{one.role}"];' for one in topology.brokers]
    for link in topology.links:
        style = "solid" if _edge(link) in topology.tree else "dashed"
        label = f', label="{link.delay_ms} ms"' if link.delay_ms else ""
        lines.append(f'  "{link.a}" -- "{link.b}" [style={style}{label}];')
    return "\n".join([*lines, "}"])


def centre(children: Mapping[str, Sequence[str]]) -> str:
    """Peel off leaves until one broker is left: drawn from there the tree is as flat as it can be."""
    degree = {name: len(others) for name, others in children.items()}
    rest = set(children)
    while len(rest) > 2:
        leaves = [name for name in children if name in rest and degree[name] <= 1]
        rest.difference_update(leaves)
        for leaf in leaves:
            for other in children[leaf]:
                degree[other] -= 1
    return next(name for name in children if name in rest)


def _label(topology: Topology, name: str, link: Link | None) -> Text:
    broker = topology.broker(name)
    colour = _COLOURS[topology.roles.index(broker.role) % len(_COLOURS)]
    label = Text(name, style=f"bold {colour}")
    label.append(f"  {broker.role}", style=colour)
    if broker.group != name:
        label.append(f"  group {broker.group}", style="default")
    return label.append(_remarks(link) if link else "", style="dim")


def _remarks(link: Link) -> str:
    delay = f"  {link.delay_ms} ms" if link.delay_ms else ""
    return delay + (f"  weight {link.weight}" if link.weight not in (1, link.delay_ms) else "")


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _edge(link: Link) -> tuple[str, str]:
    return min(link.a, link.b), max(link.a, link.b)
