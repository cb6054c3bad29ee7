"""What travels between brokers and clients, above the session.

A control body's tag is its `kind` in the log. Schemes may add bodies of their own (`Scheme.controls`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from msgspec import Struct

from node.core.records import Content, Lang


class Port(NamedTuple):
    """A neighbouring broker or a local client: both are places that messages come from and go to."""

    kind: str
    name: str

    @property
    def is_broker(self) -> bool:
        return self.kind == "broker"


def broker_port(name: str) -> Port:
    return Port("broker", name)


def client_port(name: str) -> Port:
    return Port("client", name)


class Publication(Struct, frozen=True, array_like=True):
    msg: str
    publisher: str
    seq: int
    lang: Lang
    content: Content


class Body(Struct, frozen=True, tag_field="kind"):
    """A control message's content; subclasses say what they carry."""

    @property
    def entries(self) -> int:
        return 0

    @property
    def subject(self) -> tuple[str | None, str | None]:
        """The subscription and the advertisement it is about, for the log."""
        return None, None


class Subscribe(Body, frozen=True, tag="subscribe"):
    sub: str
    filter: str
    lang: Lang

    @property
    def entries(self) -> int:
        return 1

    @property
    def subject(self) -> tuple[str | None, str | None]:
        return self.sub, None


class Unsubscribe(Body, frozen=True, tag="unsubscribe"):
    sub: str

    @property
    def subject(self) -> tuple[str | None, str | None]:
        return self.sub, None


class Advertise(Body, frozen=True, tag="advertise"):
    adv: str
    filter: str
    lang: Lang
    publisher: str

    @property
    def entries(self) -> int:
        return 1

    @property
    def subject(self) -> tuple[str | None, str | None]:
        return None, self.adv


class Unadvertise(Body, frozen=True, tag="unadvertise"):
    adv: str

    @property
    def subject(self) -> tuple[str | None, str | None]:
        return None, self.adv


class Snapshot(Body, frozen=True, tag="snapshot"):
    """All that the sender has to say, applied as one step.

    `complete` means that what is not named here is not so; an incomplete one only adds.
    """

    subs: tuple[Subscribe, ...] = ()
    advs: tuple[Advertise, ...] = ()
    complete: bool = True

    @property
    def entries(self) -> int:
        return len(self.subs) + len(self.advs)


COMMON_BODIES: tuple[type[Body], ...] = (Subscribe, Unsubscribe, Advertise, Unadvertise, Snapshot)


class Payload(Struct, frozen=True, array_like=True):
    """One numbered thing in a session."""


class Publish(Payload, frozen=True, tag="p"):
    publication: Publication
    header: Any = None


class Deliver(Payload, frozen=True, tag="d"):
    publication: Publication
    subs: tuple[str, ...]


class Control(Payload, frozen=True, tag="c"):
    mid: int
    body: Body


class Settled(Payload, frozen=True, tag="s"):
    mid: int


class Refused(Payload, frozen=True, tag="r"):
    mid: int
    what: str
    why: str


def kind_of(payload: Payload) -> str:
    match payload:
        case Publish() | Deliver():
            return "publication"
        case Control(body=body):
            return str(type(body).__struct_config__.tag)
        case Settled():
            return "settled"
        case Refused():
            return "refused"
    raise TypeError(f"no kind for {payload!r}")
