"""What becomes of a foreign network: names that are legal, one link per pair, one part, delays by distance."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Literal, NamedTuple

from controller.errors import UsageError
from controller.topology import geography
from controller.topology.generators.base import BROKERS_MAX, tidy
from controller.topology.importing import naming, network
from controller.topology.importing.network import Edge, Network, Node
from controller.topology.model import Broker, Link, Topology
from controller.yamlfile import known

WEIGHT_LEAST = 0.001
# Roles, and words that YAML does not take for text.
RESERVED = ("leaf", "inner", "external", "null", "true", "false")


class Wishes(NamedTuple):
    delay_ms: int | float = 0
    """Of links whose length the file does not tell."""
    weights: Literal["one", "delay"] = "one"
    largest: bool = False
    """Of a network in parts, take the largest."""


class Imported(NamedTuple):
    topology: Topology
    remarks: list[str]
    """What was left out, joined or assumed, for a person."""


def settled(given: Network, path: Path, wishes: Wishes) -> Imported:
    _check_nodes(given, path)
    pairs, remarks = _pairs(given, path)
    nodes = _in_one_part(given.nodes, pairs, path, wishes.largest)
    if len(nodes) < len(given.nodes):
        remarks.append(f"brokers outside the largest part left out: {len(given.nodes) - len(nodes)}")
    kept = {node.id for node in nodes}
    pairs = [pair for pair in pairs if pair[0] in kept]
    names = naming.unique([(node.label, node.id) for node in nodes], RESERVED)
    named = dict(zip(_ids(nodes), names, strict=True))
    degree = Counter(end for pair in pairs for end in pair)
    brokers = tuple(Broker(named[node.id], _role(node, degree[node.id]), named[node.id]) for node in nodes)
    links, without = _links(pairs, nodes, named, wishes)
    if without:
        remarks.append(f"links of unknown length, given {wishes.delay_ms} ms: {without}")
    printable = "".join(letter if letter.isprintable() else " " for letter in given.name)
    title = " ".join(printable.split())[:80] or path.stem
    description = f"{title}: {len(brokers)} brokers, imported from {path.name}"
    return Imported(Topology(path.stem, description, brokers, links), remarks)


def _ids(nodes: list[Node]) -> list[str]:
    return [node.id for node in nodes]


def _check_nodes(given: Network, path: Path) -> None:
    if not given.nodes:
        raise UsageError(f"{path}: there is no node in it; a network has at least one")
    if len(given.nodes) > BROKERS_MAX:
        raise UsageError(f"{path}: {len(given.nodes)} nodes; {BROKERS_MAX} at most")
    for id_, count in Counter(_ids(given.nodes)).items():
        if count > 1:
            raise UsageError(f"{path}: {count} nodes have the id `{id_}`; ids must be unique, labels need not")


def _pairs(given: Network, path: Path) -> tuple[list[tuple[str, str]], list[str]]:
    """Each linked pair once, whatever its direction; and what was dropped."""
    ids = _ids(given.nodes)
    there = set(ids)
    pairs: dict[frozenset[str], tuple[str, str]] = {}
    dropped: Counter[str] = Counter()
    for edge in given.edges:
        _check_ends(edge, there, ids)
        ends = frozenset((edge.source, edge.target))
        if len(ends) == 1:
            dropped["links of a broker to itself left out"] += 1
        elif ends in pairs:
            dropped["parallel links joined with another"] += 1
        else:
            pairs[ends] = (edge.source, edge.target)
    return list(pairs.values()), [f"{what}: {count}" for what, count in dropped.items()]


def _check_ends(edge: Edge, there: set[str], ids: list[str]) -> None:
    for end in (edge.source, edge.target):
        if end not in there:
            raise network.problem(edge.where, f"an edge ends at `{end}`, which is no node; {known(end, ids)}")


def _in_one_part(nodes: list[Node], pairs: list[tuple[str, str]], path: Path, largest: bool) -> list[Node]:
    beside: dict[str, list[str]] = {node.id: [] for node in nodes}
    for a, b in pairs:
        beside[a].append(b)
        beside[b].append(a)
    parts: list[set[str]] = []
    for node in nodes:
        if not any(node.id in part for part in parts):
            reached, waiting = {node.id}, [node.id]
            while waiting:
                fresh = [other for other in beside[waiting.pop()] if other not in reached]
                reached.update(fresh)
                waiting += fresh
            parts.append(reached)
    # The first of the largest: `sorted` keeps their order in the file.
    parts = sorted(parts, key=len, reverse=True)
    if len(parts) > 1 and not largest:
        sizes = ", ".join(str(len(part)) for part in parts[:10])
        lost = next(node for node in nodes if node.id not in parts[0])
        raise UsageError(
            f"{path}: the network is in {len(parts)} parts (of {sizes} brokers), node `{lost.label or lost.id}` is "
            f"outside the largest; add --largest to take only that"
        )
    return [node for node in nodes if node.id in parts[0]]


def _role(node: Node, degree: int) -> str:
    if node.is_external:
        return "external"
    return "leaf" if degree <= 1 else "inner"


def _links(
    pairs: list[tuple[str, str]], nodes: list[Node], named: dict[str, str], wishes: Wishes
) -> tuple[tuple[Link, ...], int]:
    places = {node.id: node.place for node in nodes}
    made, without = [], 0
    for a, b in pairs:
        here, there = places[a], places[b]
        if here and there:
            delay_ms = tidy(round(geography.delay_ms(here, there), 3))
        else:
            delay_ms, without = wishes.delay_ms, without + 1
        weight = max(delay_ms, WEIGHT_LEAST) if wishes.weights == "delay" else 1
        made.append(Link(named[a], named[b], delay_ms, weight))
    return tuple(made), without
