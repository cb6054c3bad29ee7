"""A network as a file of another program tells it: before names, links and delays are settled."""

from __future__ import annotations

import math
from typing import NamedTuple

from controller.errors import UsageError
from controller.topology.geography import Place


class Node(NamedTuple):
    id: str
    label: str
    """Empty if the file has none."""
    place: Place | None
    is_external: bool
    """Somebody else's, in the words of the Topology Zoo: `Internal` is 0."""


class Edge(NamedTuple):
    source: str
    target: str
    where: str
    """FILE:LINE, for what is said about it."""


class Network(NamedTuple):
    name: str
    nodes: list[Node]
    edges: list[Edge]


def problem(where: str, what: str) -> UsageError:
    return UsageError(f"{where}: {what}")


def node(id_: str, said: dict[str, str], where: str) -> Node:
    """From attributes under whatever spelling: `Latitude`, `latitude`, `LATITUDE`."""
    attributes = {name.lower(): value.strip() for name, value in said.items()}
    latitude = _degrees(attributes, "latitude", 90, where)
    longitude = _degrees(attributes, "longitude", 180, where)
    place = None if latitude is None or longitude is None else Place(latitude, longitude)
    label = attributes.get("label", "")
    # The Topology Zoo's word for a node without a label.
    return Node(id_, "" if label == "None" else label, place, attributes.get("internal") in ("0", "false"))


def _degrees(attributes: dict[str, str], name: str, most: int, where: str) -> float | None:
    text = attributes.get(name, "")
    if not text:
        return None
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not -most <= number <= most:
        raise problem(where, f"`{text[:20]}` is not a {name}; from -{most} to {most} degrees")
    return number
