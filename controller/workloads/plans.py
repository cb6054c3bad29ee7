"""A plan: everything the clients of a run will do, in order, made before the run from its seed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

PhaseName = Literal["warm", "load", "final"]
PHASES: tuple[PhaseName, ...] = ("warm", "load", "final")
Value = str | int | float | bool
Content = dict[str, Value] | str
"""Attributes, or the text of an XML document."""


class Operation(Struct, frozen=True, tag_field="op", kw_only=True):
    phase: PhaseName
    at_ms: int
    """From the start of the phase."""
    client: str


class Attach(Operation, frozen=True, tag="attach", kw_only=True):
    broker: str


class Detach(Operation, frozen=True, tag="detach", kw_only=True):
    pass


class Advertise(Operation, frozen=True, tag="advertise", kw_only=True):
    adv: str
    filter: str
    lang: str = "attr"


class Subscribe(Operation, frozen=True, tag="subscribe", kw_only=True):
    sub: str
    filter: str
    lang: str = "attr"


class Unsubscribe(Operation, frozen=True, tag="unsubscribe", kw_only=True):
    sub: str


class Publish(Operation, frozen=True, tag="publish", kw_only=True):
    content: Content
    lang: str = "attr"


AnyOperation = Attach | Detach | Advertise | Subscribe | Unsubscribe | Publish


class Plan(Struct, frozen=True):
    operations: tuple[AnyOperation, ...]

    @classmethod
    def of(cls, operations: Iterable[AnyOperation]) -> Plan:
        """In order of phase and time; what was given first stays first where times are equal."""
        return cls(tuple(sorted(operations, key=lambda one: (PHASES.index(one.phase), one.at_ms))))

    @property
    def clients(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(one.client for one in self.operations))

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
