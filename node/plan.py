"""A plan: what the clients of one driver do, and when. Read as a whole before it is played."""

from __future__ import annotations

from pathlib import Path

import msgspec
from msgspec import Struct

from node.core.records import Content, Lang
from node.errors import ConfigError

PHASES = ("warm", "load", "final")


class Operation(Struct, frozen=True, kw_only=True, tag_field="op"):
    phase: str
    at_ms: float
    client: str


class Attach(Operation, frozen=True, kw_only=True, tag="attach"):
    broker: str


class Detach(Operation, frozen=True, kw_only=True, tag="detach", omit_defaults=True):
    broker: str | None = None
    """Who moves names the broker to leave; without it the client leaves altogether."""
    linger_ms: float = 0
    """Not sooner than so long after all that the client asked for was confirmed: what is under way shall arrive."""


class Advertise(Operation, frozen=True, kw_only=True, tag="advertise"):
    adv: str
    filter: str
    lang: Lang = "attr"


class Unadvertise(Operation, frozen=True, kw_only=True, tag="unadvertise"):
    adv: str


class Subscribe(Operation, frozen=True, kw_only=True, tag="subscribe"):
    sub: str
    filter: str
    lang: Lang = "attr"


class Unsubscribe(Operation, frozen=True, kw_only=True, tag="unsubscribe"):
    sub: str


class Publish(Operation, frozen=True, kw_only=True, tag="publish"):
    content: Content
    lang: Lang = "attr"


AnyOperation = Attach | Detach | Advertise | Unadvertise | Subscribe | Unsubscribe | Publish
Plan = dict[str, list[AnyOperation]]

_decoder = msgspec.json.Decoder(AnyOperation)


def read_plan(path: str | None) -> Plan:
    """Phase → its operations in order of time; those of equal time in the order of the file."""
    if path is None:
        return {}
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise ConfigError(f"the plan {path} cannot be read: {error.strerror}") from None
    return parse_plan(data, path)


def parse_plan(data: bytes, source: str) -> Plan:
    plan: Plan = {}
    for number, line in enumerate(data.splitlines(), 1):
        if line.strip():
            try:
                operation = _decoder.decode(line)
            except (msgspec.MsgspecError, UnicodeDecodeError) as error:
                raise ConfigError(f"the plan {source}, line {number}: {error}") from None
            plan.setdefault(operation.phase, []).append(operation)
    for operations in plan.values():
        operations.sort(key=lambda operation: operation.at_ms)
    return plan


def subject(operation: AnyOperation) -> str:
    """The id that a refusal of this operation is recorded under."""
    match operation:
        case Subscribe(sub=key) | Unsubscribe(sub=key) | Advertise(adv=key) | Unadvertise(adv=key):
            return key
    return operation.client
