"""A cluster in virtual time: real broker and client states on a simulated wire, and nothing of the host in its logs."""

from __future__ import annotations

from controller.sim.cluster import NAME, SimCluster, up
from controller.sim.settings import Settings

__all__ = ["NAME", "Settings", "SimCluster", "up"]
