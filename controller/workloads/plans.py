"""A plan: everything the clients of a run will do, in order, made before the run from its seed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec
from msgspec import Struct

from node.core.records import Content, Lang
from node.plan import (
    PHASES,
    Advertise,
    AnyOperation,
    Attach,
    Detach,
    Operation,
    Publish,
    Subscribe,
    Unadvertise,
    Unsubscribe,
)

__all__ = [
    "PHASES", "Advertise", "AnyOperation", "Attach", "Content", "Detach", "Lang", "Operation", "Plan", "Publish",
    "Subscribe", "Unadvertise", "Unsubscribe", "Value", "read",
]  # fmt: skip

Value = str | int | float | bool


class Plan(Struct, frozen=True):
    operations: tuple[AnyOperation, ...]

    @classmethod
    def of(cls, operations: Iterable[AnyOperation]) -> Plan:
        """In order of phase and time; what was given first stays first where times are equal."""
        return cls(tuple(sorted(operations, key=lambda one: (PHASES.index(one.phase), one.at_ms))))

    @property
    def clients(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(one.client for one in self.operations))

    @property
    def residents(self) -> tuple[str, ...]:
        """The clients that are there from the beginning."""
        return tuple(dict.fromkeys(one.client for one in self.operations if one.phase == "warm"))

    def split(self, drivers: int) -> list[Plan]:
        """One plan per driver; a client stays whole, as only its own driver keeps its order."""
        driver_of = {client: index % drivers for index, client in enumerate(self.clients)}
        return [Plan(tuple(one for one in self.operations if driver_of[one.client] == n)) for n in range(drivers)]

    def encoded(self) -> bytes:
        return msgspec.json.Encoder().encode_lines(self.operations)

    def write(self, path: Path) -> None:
        path.write_bytes(self.encoded())


def read(path: Path) -> Plan:
    decoder = msgspec.json.Decoder(AnyOperation)
    return Plan(tuple(decoder.decode(line) for line in path.read_bytes().splitlines()))
