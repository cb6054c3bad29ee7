"""Schemes with a mistake, to see that a broker owns up to it."""

from __future__ import annotations

from typing import Any

from node.core.errors import InvariantViolation
from node.core.messages import Port, Publication
from node.core.schemes.base import Forward
from node.core.schemes.simple import Simple


class BrokenTable(Simple):
    name = "broken-table"

    def check(self) -> None:
        raise InvariantViolation("two and two are five")


class ToNobody(Simple):
    name = "to-nobody"

    def route(self, port: Port, publication: Publication, header: Any) -> list[Forward]:
        return [Forward(Port("client", "nobody"), publication)]


class Crashing(Simple):
    name = "crashing"

    def route(self, port: Port, publication: Publication, header: Any) -> list[Forward]:
        raise ZeroDivisionError("a plain mistake")
