"""docs/log-format.md, written from the types of the records: `python -m controller.logformat > docs/log-format.md`."""

from __future__ import annotations

import types
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec
from msgspec.structs import FieldInfo, fields

from controller import faults
from node.core import records
from node.core.messages import kind_of_body
from node.core.records import RECORDS, Content, Record
from node.core.schemes import registry

_CALLED = {"broker": "brokers", "driver": "drivers", "controller": "the controller"}

# Of fields that mean the same wherever they stand, and therefore have no note in the types.
MEANINGS = {
    "client": "the client's id, without `:`",
    "broker": "the broker that the client is attached to",
    "msg": "the publication's id, `<client>:<seq>`",
    "publisher": "the client that published it",
    "seq": "the publication's number at its publisher",
    "sub": "the subscription it is about",
    "adv": "the advertisement it is about",
    "content": "name → text, number or boolean (`attr`), or an XML text (`xpath`)",
    "lang": "the language of the filter or the content",
    "peer": "the neighbour",
    "reason": "for people",
    "why": "for people",
    "id": "the fault's id; `apply` and `heal` of one fault bear the same",
    "kind": ", ".join(f"`{kind}`" for kind in faults.names()) + "; `kill` and `restart` are a broker's death",
    "phase": "the blow, or the completed cure",
    "args": "the fault's arguments, such as `delay_ms`",
    "name": "the phase's name",
    "state": "which end of it",
}

KINDS = {
    "publication": "a message for subscribers; also the last hop, to a client",
    "subscribe": "a filter is asked for",
    "unsubscribe": "a filter is withdrawn",
    "advertise": "a publisher says what it is going to publish",
    "unadvertise": "an advertisement is withdrawn",
    "snapshot": "all that the sender has to say, applied as one step, after a start or a restart",
    "settled": "everything that a control message caused is done; confirms it to its sender",
    "refused": "a client's request was not accepted, and why; addition to the contract's list",
    "silence": "a publisher has nothing to say, so that order can be told from loss",
    "update": "several changes in one message, applied as one step",
    "rows": "what an interface of XROUTE holds from now on, after a start, a restart or a new producer",
    "digest": "a summary of what the sender holds",
    "ack": "a scheme's own acknowledgement (those of the session are not logged)",
    "nack": "a scheme asks for what it misses",
}
SENT = {"publication", "settled", "refused"} | {
    kind_of_body(body) for name in registry.names() for body in registry.find(name).controls
}

_HEAD = """\
# The log format

Generated from `node/core/records.py` by `make docs`; change the types there, not this page.

A run's logs are `logs/<node>.<incarnation>.jsonl`, one file for each incarnation of a broker, a driver or the
controller. Each line is one JSON object, UTF-8. The audit reads nothing else about what happened, and judges any
directory that keeps to this page, whoever wrote it.

A driver's log, for example:

```json
{example}```
"""

_TIME = """\
## Time

* x is before y if both are in one file and x has the smaller `n`, or they are in two files and x has the smaller `t`.
  Equal `t` in two files orders nothing. All nodes of a run read one clock.
* `publish`, `subscribe`, `unsubscribe`, `advertise`, `unadvertise` and `detach` are written before the message is
  handed to the socket; `deliver`, `established`, `unsubscribed` and `advertised` after it was received.
* A broker handles a batch, writes the batch's records, then sends: what a killed broker sent is in its log.
"""

_INSIDE = """\
## Inside the network

`kind` of `handle` and `forward` is one of these. A scheme may add its own, and documents them; the last ones are
reserved for schemes that need them, and no scheme of this version sends them.

{kinds}
`from` and `to` name a broker or a client; the hop to a client is a `forward` too. A frame that the session sends again
is not logged again; one that was dropped by a cut link was forwarded. Acknowledgements, credit and heartbeats of the
session are part of frames, and not logged.
"""

_DAMAGE = """\
## Damage

* Damage is a gap in `n`, a line that cannot be decoded, a missing `open` or `close`, a file that is not there. Each
  broker of `topology.json` and each driver of `run.json` has a log.
* Only the log of a broker that a recorded fault killed may lack `close`; it may end in half a line.
* Damage never turns into `fail`, and never into `pass`. In a driver's log it makes `unknown` what rests on what the log
  does not say (missing, spurious, `subs`) for that driver's clients; duplicates and order are still judged. In the
  controller's log it makes losses `unknown`; in a broker's log, what is said about the inside of the network.
"""


def document() -> str:
    parts = [_HEAD.replace("{example}", _example()), _always(), *map(_section, RECORDS)]
    rows = [f"| `{kind}` | {'' if kind in SENT else 'reserved: '}{text} |" for kind, text in KINDS.items()]
    kinds = "\n".join(["| kind | meaning |", "|---|---|", *rows, ""])
    return "\n".join([*parts, _TIME, _INSIDE.replace("{kinds}", kinds), _DAMAGE])


def _always() -> str:
    event = "| `event` | text | which of the records below it is |"
    return "\n".join(["## In every line", "", *_TABLE, *map(_row, fields(Record)), event, ""])


_TABLE = ("| field | type | meaning |", "|---|---|---|")


def _section(record: type[Record]) -> str:
    own = [f for f in fields(record) if f.name not in Record.__struct_fields__]
    *others, last = (_CALLED[role] for role in record.writers)
    writers = f"{', '.join(others)} and {last}" if others else last
    lines = [f"## `{record.__struct_config__.tag}`", "", f"By {writers}. {record.__doc__}", ""]
    if own:
        lines += [*_TABLE, *map(_row, own), ""]
    return "\n".join(lines)


def _row(field: FieldInfo) -> str:
    kind, meaning = _described(field.type)
    optional = "" if field.required else ", may be absent"
    return f"| `{field.encode_name}` | {kind}{optional} | {meaning or MEANINGS[field.encode_name]} |"


def _described(hint: Any) -> tuple[str, str]:
    """The type in words, and the meaning that is noted beside it."""
    if get_origin(hint) is Annotated:
        plain, *notes = get_args(hint)
        return _described(plain)[0], " ".join(
            note.description or "" for note in notes if isinstance(note, msgspec.Meta)
        )
    if hint == Content:
        return "object or text", ""
    if get_origin(hint) is Literal:
        return _words(get_args(hint)), ""
    if get_origin(hint) in (Union, types.UnionType):
        return _described(next(arg for arg in get_args(hint) if arg is not type(None)))
    return _PLAIN[hint], ""


_PLAIN: dict[Any, str] = {
    str: "text",
    int: "integer",
    list[str]: "array of texts",
    dict[str, int]: "object of integers",
    dict[str, Any]: "object",
}


def _words(choices: tuple[str, ...]) -> str:
    return " or ".join(f"`{choice}`" for choice in choices)


def _example() -> str:
    t = iter(range(1_760_000_000_000_000_000, 1_760_000_001_000_000_000, 1_234_567))
    n = iter(range(1, 10))

    def line(record: type[Record], **own: Any) -> Record:
        return record(t=next(t), node="driver1", inc=1, n=next(n), **own)

    c1, c2 = {"client": "c1", "broker": "b1"}, {"client": "c2", "broker": "b3"}
    wanted = {"sub": "s1", "filter": "price > 10", "lang": "attr"}
    sent = {"msg": "c1:1", "seq": 1}
    story = [
        line(records.Open, role="driver", version="0.1.0", scheme="simple"),
        line(records.Attach, **c1),
        line(records.Attach, **c2),
        line(records.Subscribe, **c2, **wanted),
        line(records.Established, **c2, **wanted),
        line(records.Publish, **c1, **sent, content={"price": 12}, lang="attr", intended_t=1_760_000_000_006_000_000),
        line(records.Deliver, **c2, **sent, publisher="c1", subs=["s1"]),
        line(records.Close),
    ]
    return msgspec.json.Encoder().encode_lines(story).decode()


if __name__ == "__main__":
    print(document(), end="")
