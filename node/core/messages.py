"""What travels between brokers and clients, above the session.

A control body's tag is its `kind` in the log. Schemes may add bodies of their own (`Scheme.controls`).
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

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

    @property
    def brings(self) -> tuple[str, ...]:
        """The ids of what the receiver will have once this is settled."""
        return ()

    @property
    def texts(self) -> tuple[tuple[str, Lang], ...]:
        """The filters in it, for bodies that only their scheme knows: one that does not parse spoils them all."""
        return ()

    @property
    def withdraws_publishers(self) -> bool:
        """Whether subscriptions may go once this is known: what was published before must have passed by then."""
        return False

    @property
    def rank(self) -> int:
        """A message is settled after messages of its own rank that go onwards, and of lower rank in any direction.

        Subscriptions have rank 0. Advertisements have rank 1: subscriptions come back in answer to them. So no two
        messages ever wait for each other.
        """
        return 0


class Subscribe(Body, frozen=True, tag="subscribe", omit_defaults=True):
    sub: str
    filter: str
    lang: Lang
    home: str = ""
    """The subscriber's broker, between brokers of a scheme that sends publications to brokers by name."""

    @property
    def entries(self) -> int:
        return 1

    @property
    def subject(self) -> tuple[str | None, str | None]:
        return self.sub, None

    @property
    def brings(self) -> tuple[str, ...]:
        return (self.sub,)


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

    @property
    def brings(self) -> tuple[str, ...]:
        return (self.adv,)

    @property
    def rank(self) -> int:
        return 1


class Unadvertise(Body, frozen=True, tag="unadvertise"):
    adv: str

    @property
    def withdraws_publishers(self) -> bool:
        return True

    @property
    def rank(self) -> int:
        return 1

    @property
    def subject(self) -> tuple[str | None, str | None]:
        return None, self.adv


class Snapshot(Body, frozen=True, tag="snapshot"):
    """All that the sender has to say of subscriptions, of advertisements or of both, applied as one step.

    `complete` means that what is not named here is not so; an incomplete one only adds. None: not spoken of. Between
    brokers the two go separately: an advertisement is settled only after subscriptions that answer it, so one message
    with both on each side of a link would wait for the other.
    """

    subs: tuple[Subscribe, ...] | None = None
    advs: tuple[Advertise, ...] | None = None
    complete: bool = True

    @property
    def entries(self) -> int:
        return len(self.subs or ()) + len(self.advs or ())

    @property
    def brings(self) -> tuple[str, ...]:
        return (*(body.sub for body in self.subs or ()), *(body.adv for body in self.advs or ()))

    @property
    def rank(self) -> int:
        return 0 if self.advs is None else 1


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


class Codec(Protocol):
    def encode(self, payload: Payload) -> bytes: ...
    def decode(self, data: bytes) -> Payload: ...


def kind_of_body(body: Body | type[Body]) -> str:
    return str(body.__struct_config__.tag)


def kind_of(payload: Payload) -> str:
    match payload:
        case Publish() | Deliver():
            return "publication"
        case Control(body=body):
            return kind_of_body(body)
        case Settled():
            return "settled"
        case Refused():
            return "refused"
    raise TypeError(f"no kind for {payload!r}")
