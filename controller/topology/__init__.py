"""Overlays: the resolved model, and the files it is loaded from."""

from __future__ import annotations

from controller.topology.files import load, names
from controller.topology.model import Broker, Link, Topology, from_json

__all__ = ["Broker", "Link", "Topology", "from_json", "load", "names"]
