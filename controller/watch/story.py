"""A log's records as lines for people."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import msgspec
from rich.text import Text

from controller.text import clean, count, duration, plural, volume
from controller.watch.style import EVENT_STYLES

EVENT_WIDTH = 12
CONTENT_LIMIT = 200
_ENVELOPE = ("event", "t", "node", "inc", "n")

Record = dict[str, Any]
Clock = Callable[[int], str]


def clocks(origin_t: int | None) -> dict[str, Clock]:
    """How moments can be written: by the clock, with the date, or counted from the start of the run."""
    return {
        "clock": lambda t: _local(t).strftime("%H:%M:%S.") + f"{t // 1_000_000 % 1000:03}",
        "date": lambda t: _local(t).isoformat(timespec="milliseconds"),
        "run": lambda t: f"{(t - (t if origin_t is None else origin_t)) / 1e9:+.3f} s".rjust(12),
    }


def line(record: Record, clock: Clock) -> Text:
    event = str(record.get("event"))
    written = Text(clock(record["t"]), style="dim")
    written.append("  ")
    written.append(clean(event, EVENT_WIDTH).ljust(EVENT_WIDTH), style=EVENT_STYLES.get(event, _STYLES.get(event, "")))
    return written.append(f" {_told(event, record)}".rstrip())


def _told(event: str, record: Record) -> str:
    tell = _TELLERS.get(event, _anything)
    try:
        return clean(tell(record), 2000)
    except (KeyError, TypeError, ValueError):
        # A record of an unknown form is shown as it is.
        return clean(_anything(record), 2000)


def _local(t: int) -> datetime:
    return datetime.fromtimestamp(t / 1e9).astimezone()


def _subject(record: Record) -> str:
    """Which message, subscription or advertisement it is about."""
    return " ".join(str(record[name]) for name in ("msg", "sub", "adv") if record.get(name))


def _handle(record: Record) -> str:
    spent = f"waited {duration(record['wait_ns'])}, worked {duration(record['work_ns'])}"
    return f"{_what(record)} from {record['from']}  ({spent})"


def _forward(record: Record) -> str:
    carried = [plural(record["entries"], "entry", "entries")] if record["entries"] else []
    caused = [f"because of line {record['cause']}"] if record.get("cause") else []
    return f"{_what(record)} to {record['to']}  ({', '.join([*carried, volume(record['bytes']), *caused])})"


def _what(record: Record) -> str:
    return " ".join(word for word in (str(record["kind"]), _subject(record)) if word)


def _sample(record: Record) -> str:
    numbers = f"queue {count(record['queue'])}, table {count(record['table'])}, unacked {count(record['unacked'])}"
    return (
        f"{numbers}, {volume(record['rss'])}, processor {duration(record['cpu_ns'])}, lag {duration(record['lag_ns'])}"
    )


def _request(record: Record) -> str:
    since = f", since {_json(record['since'])}" if record.get("since") else ""
    return f"{_subject(record)} of {record['client']} at {record['broker']}: {record['filter']}{since}"


def _publish(record: Record) -> str:
    late = record["t"] - record["intended_t"]
    told = f", {duration(late)} late" if late >= 1_000_000 else ""
    return f"{record['msg']} at {record['broker']}: {_json(record['content'])}{told}"


def _deliver(record: Record) -> str:
    return f"{record['msg']} to {record['client']} at {record['broker']} for {', '.join(record['subs'])}"


def _fault(record: Record) -> str:
    args = " ".join(f"{name}={value}" for name, value in record["args"].items())
    return f"{record['phase']} {record['kind']} {record['target']} ({record['id']}) {args}"


def _anything(record: Record) -> str:
    return " ".join(f"{name}={_json(value)}" for name, value in record.items() if name not in _ENVELOPE)


def _json(value: Any) -> str:
    return value if isinstance(value, str) else clean(msgspec.json.encode(value).decode(), CONTENT_LIMIT)


_TELLERS: dict[str, Callable[[Record], str]] = {
    "open": lambda record: f"{record['role']} {record['node']}, incarnation {record['inc']}, runs {record['scheme']}",
    "close": lambda _: "ended in order",
    "attach": lambda record: f"{record['client']} to {record['broker']}",
    "detach": lambda record: f"{record['client']} from {record['broker']}",
    **dict.fromkeys(
        ("advertise", "advertised", "unadvertise", "subscribe", "established", "unsubscribe", "unsubscribed"), _request
    ),
    "publish": _publish,
    "deliver": _deliver,
    "handle": _handle,
    "forward": _forward,
    "sample": _sample,
    "link": lambda record: f"to {record['peer']} {record['state']}: {record['reason']}",
    "refuse": lambda record: f"{record['what']}: {record['why']}",
    "fault": _fault,
    "phase": lambda record: f"{record['name']} {record['state']}",
}
_STYLES = {"sample": "dim", "publish": "bold", "deliver": "bold green", "handle": "blue", "forward": "cyan"}
