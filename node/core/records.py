"""What a log line is. The audit's schema and docs/log-format.md are derived from these types."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta, Struct, field

Content = dict[str, str | int | float | bool] | str
Lang = Literal["attr", "xpath"]


Role = Literal["broker", "driver", "controller"]


class Record(Struct, kw_only=True, omit_defaults=True, tag_field="event"):
    writers: ClassVar[tuple[Role, ...]] = ("driver",)
    t: Annotated[int, Meta(description="nanoseconds since the epoch; virtual in `sim`; never decreases in a file")]
    node: Annotated[str, Meta(description="who wrote the line")]
    inc: Annotated[int, Meta(description="incarnation of the node, from 1")]
    n: Annotated[int, Meta(description="line number within the file, from 1, without gaps")]


class Open(Record, tag="open"):
    """First line of every file."""

    writers = ("broker", "driver", "controller")

    role: Annotated[str, Meta(description="`broker`, `driver` or `controller`")]
    version: Annotated[str, Meta(description="version of brokerlab")]
    scheme: Annotated[str, Meta(description="name of the routing scheme")]


class Close(Record, tag="close"):
    """Last line of an orderly end."""

    writers = ("broker", "driver", "controller")


class Attach(Record, tag="attach"):
    """A client takes up its broker."""

    client: str
    broker: str


class Detach(Record, tag="detach"):
    """A client leaves a broker; this cancels all its subscriptions there, without confirmation."""

    client: str
    broker: str


class _AdvertisementRecord(Record):
    client: str
    broker: str
    adv: Annotated[str, Meta(description="advertisement id, unique in the run")]
    filter: Annotated[str, Meta(description="the filter's text")]
    lang: Lang


class Advertise(_AdvertisementRecord, tag="advertise"):
    """Written before the request is handed to the socket."""


class Advertised(_AdvertisementRecord, tag="advertised"):
    """Every broker knows the advertisement; what intersects it is in place."""


class Unadvertise(_AdvertisementRecord, tag="unadvertise"):
    """Written before the request is handed to the socket."""


class _SubscriptionRecord(Record):
    client: str
    broker: str
    sub: Annotated[str, Meta(description="subscription id, unique in the run")]
    filter: Annotated[str, Meta(description="the filter's text")]
    lang: Lang


class Subscribe(_SubscriptionRecord, tag="subscribe"):
    """Written before the request is handed to the socket."""


class Established(_SubscriptionRecord, tag="established"):
    """The broker's confirmation was received: from here on the subscription counts."""

    since: Annotated[
        dict[str, int] | None, Meta(description="publisher → first `seq` promised, for schemes that confirm by it")
    ] = None


class Unsubscribe(_SubscriptionRecord, tag="unsubscribe"):
    """Written before the request is handed to the socket."""


class Unsubscribed(_SubscriptionRecord, tag="unsubscribed"):
    """The broker's confirmation was received: nothing may be delivered any more."""


class Publish(Record, tag="publish"):
    """Written before the message is handed to the socket."""

    client: str
    broker: str
    msg: Annotated[str, Meta(description="`<client>:<seq>`")]
    seq: Annotated[int, Meta(description="per client, from 1")]
    content: Content
    lang: Lang
    intended_t: Annotated[int, Meta(description="when the open-loop schedule wanted it sent")]


class Deliver(Record, tag="deliver"):
    """Written after the message was received by the client."""

    client: str
    broker: str
    msg: str
    publisher: str
    seq: int
    subs: Annotated[list[str], Meta(description="all of the client's subscriptions it matched")]


class Handle(Record, tag="handle", kw_only=True):
    """A broker took one message from its input queue and dealt with it."""

    writers = ("broker",)

    from_: Annotated[str, Meta(description="broker or client it came from")] = field(name="from")
    kind: Annotated[str, Meta(description="kind of message")]
    msg: str | None = None
    sub: str | None = None
    adv: str | None = None
    wait_ns: Annotated[int, Meta(description="time in the input queue")]
    work_ns: Annotated[int, Meta(description="time spent on it")]


class Forward(Record, tag="forward", kw_only=True):
    """A broker sends one message on; a frame that the session sends again is not logged again."""

    writers = ("broker",)

    to: Annotated[str, Meta(description="broker or client it goes to")]
    kind: Annotated[str, Meta(description="kind of message")]
    msg: str | None = None
    sub: str | None = None
    adv: str | None = None
    entries: Annotated[int, Meta(description="number of filters carried, 0 for a publication")]
    bytes: Annotated[int, Meta(description="length of the message on the wire")]
    cause: Annotated[int | None, Meta(description="`n` of the `handle` that caused it; none for a timer or a link")] = (
        None
    )


class Sample(Record, tag="sample"):
    """A broker's state, written periodically."""

    writers = ("broker",)

    queue: Annotated[int, Meta(description="messages waiting in the input queue")]
    table: Annotated[int, Meta(description="entries in the routing table")]
    unacked: Annotated[int, Meta(description="messages sent and not acknowledged, or waiting for credit")]
    rss: Annotated[int, Meta(description="resident memory in bytes")]
    cpu_ns: Annotated[int, Meta(description="processor time used since the start")]
    lag_ns: Annotated[int, Meta(description="how much later than planned the sample was taken")]


class Link(Record, tag="link"):
    """A neighbour became reachable or fell silent."""

    writers = ("broker",)

    peer: str
    state: Annotated[str, Meta(description="`up` or `down`")]
    reason: str


class Refuse(Record, tag="refuse"):
    """Something that came from outside was not accepted."""

    writers = ("broker", "driver")

    what: Annotated[str, Meta(description="the id of what was refused, or a word for it")]
    why: str


class Fault(Record, tag="fault"):
    """The controller broke something, or mended it."""

    writers = ("controller",)

    id: str
    kind: str
    target: Annotated[str, Meta(description="`broker:<name>`, `link:<a>-<b>` or `client:<name>`")]
    phase: Literal["apply", "heal"]
    args: dict[str, Any]


class Phase(Record, tag="phase"):
    """A phase of the campaign begins or ends; `quiet` tells that the network has come to rest."""

    writers = ("controller",)

    name: str
    state: Literal["start", "end"]


RECORDS: tuple[type[Record], ...] = (
    Open, Close, Attach, Detach, Advertise, Advertised, Unadvertise,
    Subscribe, Established, Unsubscribe, Unsubscribed, Publish, Deliver,
    Handle, Forward, Sample, Link, Refuse, Fault, Phase,
)  # fmt: skip
