"""A cluster: what it is to be (`ClusterSpec`), how it comes up (`up`), how a running one is reached (`attach`)."""

from __future__ import annotations

from controller.cluster.launch import up
from controller.cluster.live import LiveCluster, attach
from controller.cluster.spec import ClusterSpec

__all__ = ["ClusterSpec", "LiveCluster", "attach", "up"]
