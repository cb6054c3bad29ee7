"""What goes into a broker's input queue, and what comes of handling it."""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Struct

from node.core.messages import Payload, Port
from node.core.schemes.base import Persist, TimerFired


class PeerUp(Struct, frozen=True):
    incarnation: int
    reason: str


class PeerDown(Struct, frozen=True):
    reason: str


class ClientAbsent(Struct, frozen=True):
    """A client of the predecessor's did not come back in time."""


class Malformed(Struct, frozen=True):
    why: str


class ClientGone(Struct, frozen=True):
    why: str


class Item(NamedTuple):
    """One thing in the input queue."""

    port: Port
    what: Payload | PeerUp | PeerDown | Malformed | ClientGone | ClientAbsent | TimerFired
    peer_inc: int = 0


class Sent(NamedTuple):
    """A message that was handed to a session, as the log tells it."""

    to: str
    kind: str
    msg: str | None
    sub: str | None
    adv: str | None
    entries: int
    bytes: int


class Outcome:
    """What handling an item came to, beside what now waits in the sessions."""

    __slots__ = ("persist", "refused", "sent")

    def __init__(self) -> None:
        self.sent: list[Sent] = []
        self.persist: list[Persist] = []
        self.refused: list[tuple[str, str]] = []
