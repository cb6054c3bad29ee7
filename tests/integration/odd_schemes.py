"""Schemes with a mistake, to see that a broker owns up to it, and one with a memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from node.core.errors import InvariantViolation
from node.core.messages import Port, Publication, Subscribe
from node.core.schemes.base import Change, Effect, Forward, Heard, Persist
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


class Remembering(Simple):
    """Keeps the ids of all subscriptions it ever heard of."""

    name = "remembering"
    restored: tuple[str, ...] = ()

    def apply(self, change: Change) -> Iterable[Effect]:
        if isinstance(change, Heard) and isinstance(change.body, Subscribe):
            yield Persist(change.body.sub, change.body.filter.encode())
        yield from super().apply(change)

    def restore(self, items: Mapping[str, bytes]) -> None:
        self.restored = tuple(f"{key}: {value.decode()}" for key, value in items.items())

    def table(self) -> list[dict[str, Any]]:
        return [{"restored": self.restored}]
