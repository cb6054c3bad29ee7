"""Every publication goes to every broker: the baseline that needs to know nothing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from node.core.messages import Port, Publication
from node.core.schemes.base import Change, Effect, Forward, PortUp, Scheme, Site


class Flooding(Scheme):
    name = "flooding"
    summary = "every publication to every broker, along a spanning tree"
    promise = "self-healing"
    declares = frozenset({"extra-traffic"})
    needs = frozenset({"tree"})

    def __init__(self, site: Site, parameters: Struct) -> None:
        super().__init__(site, parameters)
        self._ports: dict[Port, None] = dict.fromkeys(site.tree_ports)

    def apply(self, change: Change) -> Iterable[Effect]:
        if isinstance(change, PortUp) and not change.port.is_broker:
            self._ports[change.port] = None
        return ()

    def route(self, port: Port, publication: Publication, header: Any) -> list[Forward]:
        # A client is a port like any other: its broker tests its filters before the last hop.
        return [Forward(to, publication) for to in self._ports if to != port or not to.is_broker]

    def table(self) -> list[dict[str, Any]]:
        return []
