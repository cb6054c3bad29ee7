"""The way of one message, hop by hop, and what stood in it."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec

from controller.audit.overlay import Link, Overlay
from controller.audit.promise import Window, excusing, spans, windows
from controller.errors import UsageError
from controller.explain.judging import (
    FORBIDDEN,
    PERMITTED,
    Judgement,
    Life,
    content_of,
    flight_of,
    judged,
    matches,
)
from controller.explain.reading import Book, Row
from controller.yamlfile import known

JUDGEMENTS_MAX = 50
_LIFE = ("subscribe", "established", "unsubscribe", "unsubscribed")
_LIFE_COLUMNS = ("client", "broker", "sub", "filter", "lang", "since", "node", "n")


class Visit(msgspec.Struct):
    """One broker takes the message in hand."""

    broker: str
    inc: int
    t: int
    came_from: str
    wait_ns: int
    work_ns: int
    to_brokers: list[str]
    to_clients: list[str]
    table: int | None
    """Entries in its routing table, when it was last sampled before."""
    knew: list[str]
    """What it had been told of the subscription by then, and by whom."""


class Disturbance(msgspec.Struct):
    fault: str
    kind: str
    target: str
    apply_t: int
    heal_t: int | None


class Story(msgspec.Struct):
    msg: str
    publisher: str
    broker: str
    t: int
    intended_t: int
    lang: str
    content: Any
    visits: list[Visit]
    way: list[str]
    """The brokers from the publisher's to the subscription's; without a subscription those that were visited."""
    ended: str
    """Where and how it came to its end, if it did not arrive."""
    faults: list[Disturbance]
    silence: str | None
    """Why the brokers tell nothing."""
    damaged: list[str]
    judgements: list[Judgement]
    judgements_left_out: int
    flight_ns: int


def tell(run: Path, msg: str, sub: str | None = None) -> Story:
    """Raises UsageError for ids that nobody used."""
    book = Book(run)
    published = _published(book, msg)
    lives = _lives(book)
    if sub is not None and sub not in lives:
        raise UsageError(f"no subscription `{sub}` in this run; {known(sub, lives)}")
    chosen = [lives[sub]] if sub is not None else list(lives.values())
    said = _Said(run)
    faults, _ = windows(book.rows("fault", "phase"))
    verdict_flight_ns = flight_of(said.verdict)
    delivered = book.rows("deliver", msg=msg)
    ended_t = None if _is_over(book) else _last_t(book)
    excuses = excusing(said.run.get("promise"), faults)
    found = [
        judged(life, published, [row for row in delivered if row["client"] == life.client], verdict_flight_ns,
               excuses, ended_t)
        for life in chosen
        if sub is not None or matches(life, published) is not False or _is_named(life, delivered)
    ]  # fmt: skip
    found.sort(key=lambda one: (one.outcome == "delivered", one.duty == FORBIDDEN, one.duty == PERMITTED, one.sub))
    visits = _visits(book, msg, published, lives[sub] if sub is not None else None)
    way = _way(said, published["broker"], lives[sub].broker if sub is not None else None, visits)
    goal = found[0] if sub is not None and found else None
    return Story(
        msg=msg,
        publisher=published["client"],
        broker=published["broker"],
        t=published["t"],
        intended_t=published["intended_t"],
        lang=published["lang"],
        content=content_of(published),
        visits=visits,
        way=way,
        ended=_ended(goal, way, visits, said.silence(book)) if goal is not None else "",
        faults=_met(faults, published["t"], published["t"] + verdict_flight_ns, way),
        silence=said.silence(book),
        damaged=_damaged(book),
        judgements=found[:JUDGEMENTS_MAX],
        judgements_left_out=max(0, len(found) - JUDGEMENTS_MAX),
        flight_ns=verdict_flight_ns,
    )


class _Named(msgspec.Struct):
    name: str


class _Topology(msgspec.Struct):
    brokers: list[_Named]
    links: list[Link]


class _Said:
    """What the run's JSON files say, which may be broken: then they say nothing."""

    def __init__(self, run: Path) -> None:
        self.run = _object(run / "run.json")
        self.topology = _object(run / "topology.json")
        self.verdict = _object(run / "audit" / "verdict.json")

    def overlay(self) -> Overlay | None:
        needs = self.run.get("needs")
        try:
            told = msgspec.convert(self.topology, _Topology)
        except msgspec.ValidationError:
            return None
        return Overlay(
            [broker.name for broker in told.brokers], told.links, isinstance(needs, list) and "tree" in needs
        )

    def silence(self, book: Book) -> str | None:
        if self.run.get("log") == "deliveries":
            return "the brokers told nothing of messages (log: deliveries)"
        if not book.rows("handle", columns=("n",), kind="publication"):
            return "no broker tells of a message"
        return None


def _object(path: Path) -> dict[str, Any]:
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
    except (OSError, ValueError, RecursionError):
        return {}


def _published(book: Book, msg: str) -> Row:
    found = book.rows("publish", msg=msg)
    if found:
        return found[0]
    client, _, number = msg.rpartition(":")
    published: dict[str, int] = {}
    for row in book.rows("publish", columns=("client", "seq")):
        published[row["client"]] = max(row["seq"], published.get(row["client"], 0))
    if client in published:
        raise UsageError(
            f"no message `{msg}` in this run; {client} published {client}:1 to {client}:{published[client]}"
        )
    if not number.isdigit() or not client:
        raise UsageError(f"no message `{msg}` in this run; a message is called PUBLISHER:NUMBER, such as "
                         f"{next(iter(sorted(published)), 'c1')}:1")  # fmt: skip
    raise UsageError(f"no message `{msg}` in this run, nobody called `{client}` published; {known(client, published)}")


def _lives(book: Book) -> dict[str, Life]:
    told: dict[str, list[Row]] = {}
    for row in book.rows(*_LIFE, columns=_LIFE_COLUMNS):
        told.setdefault(row["sub"], []).append(row)
    departures = book.rows("detach", columns=("client", "broker", "n"))
    refused = {row["what"] for row in book.rows("refuse", columns=("what",))}
    return {sub: Life(rows, departures, refused) for sub, rows in told.items()}


def _is_named(life: Life, delivered: list[Row]) -> bool:
    return any(row["client"] == life.client and life.sub in (row["subs"] or ()) for row in delivered)


def _is_over(book: Book) -> bool:
    return any(row["node"] == "controller" for row in book.rows("close", columns=("node",)))


def _last_t(book: Book) -> int:
    return max((row["t"] for row in book.rows("publish", "deliver", "sample", columns=("t",))), default=0)


def _damaged(book: Book) -> list[str]:
    facts = book.facts()
    return [] if facts is None else facts.damaged_nodes


def _visits(book: Book, msg: str, published: Row, life: Life | None) -> list[Visit]:
    forwarded = book.rows("forward", msg=msg)
    brokers = {row["node"] for row in book.rows("open", columns=("node", "role")) if row["role"] == "broker"}
    heard = book.rows("handle", "forward", sub=life.sub) if life is not None else []
    visits = []
    for row in book.rows("handle", msg=msg):
        sent = [one["to"] for one in forwarded if one["file"] == row["file"] and one["cause"] == row["n"]]
        visits.append(
            Visit(
                row["node"], row["inc"], row["t"], row["from"], row["wait_ns"], row["work_ns"],
                [to for to in sent if to in brokers], [to for to in sent if to not in brokers],
                _table(book, row), _knew(row, heard),
            )
        )  # fmt: skip
    return visits


def _table(book: Book, visit: Row) -> int | None:
    samples = book.rows("sample", columns=("table",), file=visit["file"])
    return next((row["table"] for row in reversed(samples) if row["t"] <= visit["t"]), None)


def _knew(visit: Row, heard: list[Row]) -> list[str]:
    """In order of time: what this life of the broker had been told of the subscription, and passed on."""
    told = []
    for row in heard:
        if row["file"] != visit["file"] or row["line"] > visit["line"]:
            continue
        ago = f"{(visit['t'] - row['t']) / 1e9:.3f} s before"
        if row["event"] == "handle":
            told.append(f"{row['kind']} from {row['from']}, {ago}")
        else:
            told.append(f"{row['kind']} passed on to {row['to']}, {ago}")
    return told


def _way(said: _Said, start: str, goal: str | None, visits: list[Visit]) -> list[str]:
    overlay = said.overlay()
    if goal is None or overlay is None or not {start, goal} <= set(overlay.number_of):
        return list(dict.fromkeys(visit.broker for visit in visits))
    names = sorted(overlay.number_of)
    parents = overlay.parents(overlay.number_of[start])
    way = [overlay.number_of[goal]]
    while way[-1] != overlay.number_of[start] and parents[way[-1]] >= 0:
        way.append(parents[way[-1]])
    return [names[number] for number in reversed(way)]


def _ended(goal: Judgement, way: list[str], visits: list[Visit], silence: str | None) -> str:
    if goal.outcome in ("delivered", "wrongly delivered"):
        return ""
    if silence is not None:
        return "nobody knows where"
    reached = {visit.broker: visit for visit in visits}
    if not visits:
        return f"before {way[0] if way else 'the first broker'} handled it"
    last = next((broker for broker in reversed(way) if broker in reached), visits[0].broker)
    visit = reached[last]
    if last == way[-1]:
        if goal.client in visit.to_clients:
            return f"between {last} and {goal.client}: sent, and never received"
        return f"at {last}: it did not send it to {goal.client}"
    following = way[way.index(last) + 1] if last in way else way[0]
    if following in visit.to_brokers:
        return f"between {last} and {following}: sent, and never handled"
    why = "" if any("subscribe" in one for one in visit.knew) else ", which had not told it of this subscription itself"
    return f"at {last}: it did not send it to {following}{why}"


def _met(faults: list[Window], start_t: int, end_t: int, way: list[str]) -> list[Disturbance]:
    """Those on the way, while the message may have been under way."""
    links = {f"link:{a}-{b}" for x, y in pairwise(way) for a, b in ((x, y), (y, x))}
    places = {f"broker:{broker}" for broker in way} | links
    return [
        Disturbance(window.id, window.kind, window.target, window.apply_t, window.heal_t)
        for window, span in zip(faults, spans(faults), strict=True)
        if span.start_t <= end_t and span.end_t >= start_t and (window.target in places or not way)
    ]
