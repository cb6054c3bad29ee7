"""What a cluster is to be, before any of it exists."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from controller.errors import UsageError
from controller.runtimes.base import GATEWAY
from controller.sim.settings import Settings
from controller.topology import Topology
from controller.workloads.plans import Plan
from node.core.schemes import registry
from node.core.schemes.base import Scheme
from node.journal import Level

NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")


class ClusterSpec(Struct, frozen=True, kw_only=True):
    name: str
    runtime: str
    scheme: str
    topology: Topology
    directory: Path
    seed: int
    command: tuple[str, ...]
    """What to type to get the same again."""
    parameters: dict[str, Any] = {}
    plans: dict[str, Plan] = {}
    """One per driver."""
    port: int | None = None
    campaign: str | None = None
    log: Level = "all"
    """How much the brokers tell."""
    clients_wait_s: float | None = None
    """All clients come back within this; None: who connects is a stranger, and need not."""
    sim: Settings = Settings()
    """For the runtime `sim` only."""
    experiment: dict[str, Any] = {}
    """What a campaign does to it: written down, so that runs can be compared."""
    packages: tuple[str, ...] = ()
    """Of other people, to be put beside the node where it does not run in our own Python."""

    def nodes(self) -> dict[str, str]:
        """Name → role, in the order of the topology."""
        brokers = dict.fromkeys(self.topology.broker_names, "broker")
        return {**brokers, **dict.fromkeys(self.plans, "driver"), GATEWAY: "gateway"}

    def check(self) -> None:
        """Everything that can be wrong is said before anything is made."""
        if not NAME.fullmatch(self.name):
            raise UsageError(
                f"`{self.name}` cannot be a cluster's name; use small letters, digits, `-` and `_`, 40 at most"
            )
        scheme = find_scheme(self.scheme)
        try:
            msgspec.convert(self.parameters, scheme.Parameters)
        except msgspec.ValidationError as error:
            raise UsageError(f"parameters of {self.scheme}: {error}; see `brokerlab scheme list`") from None


def find_scheme(name: str) -> type[Scheme]:
    try:
        return registry.find(name)
    except registry.UnknownScheme as error:
        raise UsageError(f"{error}; see `brokerlab scheme list`") from None
