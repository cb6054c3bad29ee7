"""Schemes with which a broker never gets ready, or does not stay so."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from node.core.messages import Port, Publication
from node.core.schemes.base import Forward, Site
from node.core.schemes.simple import Simple


class Waiting(Simple):
    name = "waiting"

    def waiting_for(self) -> list[str]:
        return ["godot"]


class Stillborn(Simple):
    name = "stillborn"

    def __init__(self, site: Site, parameters: Struct) -> None:
        raise ZeroDivisionError("it does not live")


class Falling(Simple):
    name = "falling"

    def route(self, port: Port, publication: Publication, header: Any) -> list[Forward]:
        raise ZeroDivisionError("a plain mistake")
