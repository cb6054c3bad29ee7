"""Deliberately wrong schemes: the audit must convict every one of them."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from node.core.filters import Filter
from node.core.messages import Port, Publication
from node.core.schemes.base import Forward, Site
from node.core.schemes.covering_active import Candidate, CoveringActive
from node.core.schemes.simple import Simple


class DropsEveryTenth(Simple):
    name = "drops-every-tenth"

    def __init__(self, site: Site, parameters: Struct) -> None:
        super().__init__(site, parameters)
        self._routed = 0

    def route(self, port: Port, publication: Publication, header: Any) -> list[Forward]:
        self._routed += 1
        return [] if self._routed % 10 == 0 else super().route(port, publication, header)


class ForgetsTheCovered(CoveringActive):
    """Does not send out again what a cancelled filter covered."""

    name = "forgets-the-covered"

    def _burst(self, neighbour: Port, wider: Filter) -> list[Candidate]:
        return []

    def check(self) -> None:
        """It would notice by itself; here the audit has to."""


class DeliversTwice(Simple):
    name = "delivers-twice"

    def route(self, port: Port, publication: Publication, header: Any) -> list[Forward]:
        forwards = super().route(port, publication, header)
        return [*forwards, *(forward for forward in forwards if not forward.port.is_broker)]
