"""Whether one subscription had to get one message, and why: the contract's rules, each with its sentence."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from controller.audit.evidence import FLIGHT_NS_MIN
from controller.audit.promise import Span
from controller.explain.reading import Row
from controller.judge.reading import Unreadable, condition

REQUIRED, PERMITTED, FORBIDDEN = "required", "permitted", "forbidden"
_MS = 1_000_000


class Judgement(msgspec.Struct):
    """`outcome`: delivered, missing, under way, not delivered, or wrongly delivered."""

    sub: str
    client: str
    broker: str
    filter: str
    duty: str
    why: str
    outcome: str
    delivered_t: int | None = None
    delay_ns: int | None = None
    excused_by: str | None = None


class Life:
    """What is told of a subscription, first of each."""

    def __init__(self, told: list[Row], departures: Iterable[Row], refused: set[str]) -> None:
        self.asked = told[0]
        self.at: dict[str, Row] = {}
        for row in told:
            self.at.setdefault(row["event"], row)
        self.sub: str = self.asked["sub"]
        self.client: str = self.asked["client"]
        self.broker: str = self.asked["broker"]
        self.filter: str = self.asked["filter"]
        self.lang: str = self.asked["lang"]
        self.is_refused = self.sub in refused
        begun = self.at.get("subscribe") or self.at.get("established") or self.asked
        self.detach = next((d for d in departures if (d["client"], d["broker"]) == (self.client, self.broker)
                            and before(begun, d)), None)  # fmt: skip


def before(x: Row, y: Row) -> bool:
    """The contract's order: by line within a file, by time across files."""
    return bool(x["n"] < y["n"] if x["file"] == y["file"] else x["t"] < y["t"])


def content_of(published: Row) -> Any:
    """A document, or the attributes."""
    return published["content"] if published["lang"] == "xpath" else msgspec.json.decode(published["content"])


def matches(life: Life, published: Row) -> bool | None:
    """None if nobody can read the filter."""
    if life.lang != published["lang"]:
        return False
    try:
        return condition(life.filter, life.lang)(content_of(published))
    except Unreadable:
        return None


def duty(life: Life, published: Row, flight_ns: int) -> tuple[str, str]:
    """One of required, permitted and forbidden, and the reason."""
    matching = matches(life, published)
    if matching is None:
        return PERMITTED, "the audit cannot read its filter"
    if not matching:
        return FORBIDDEN, f"the message does not match {life.filter}"
    over = life.at.get("unsubscribed")
    if over is not None and before(over, published):
        return FORBIDDEN, f"its cancellation was confirmed {_apart(over, published)} before the message was published"
    if life.is_refused:
        return PERMITTED, "it was refused"
    established = life.at.get("established")
    if established is None:
        return PERMITTED, "it was never confirmed"
    return _promised(life, established, published, flight_ns)


def _promised(life: Life, established: Row, published: Row, flight_ns: int) -> tuple[str, str]:
    since = dict(established["since"] or ()).get(published["client"])
    if since is not None and published["seq"] < since:
        return PERMITTED, f"it was promised what {published['client']} publishes from number {since} on"
    if since is None and not before(established, published):
        if established["t"] == published["t"]:
            return PERMITTED, "it was confirmed at the very time the message was published"
        return PERMITTED, f"it was confirmed {_apart(published, established)} after the message was published"
    for cancel in (life.at.get("unsubscribe"), life.detach):
        if cancel is not None and cancel["t"] - published["t"] <= flight_ns:
            how = "cancelled" if cancel["event"] == "unsubscribe" else "given up, as its client left,"
            if cancel["t"] < published["t"]:
                return PERMITTED, f"it was {how} {_apart(cancel, published)} before the message was published"
            limit = f"less than the run's flight time of {flight_ns / 1e9:g} s"
            return PERMITTED, f"it was {how} {_apart(published, cancel)} after the message was published, {limit}"
    if since is not None:
        return REQUIRED, f"it was promised what {published['client']} publishes from number {since} on"
    return REQUIRED, f"it was confirmed {_apart(established, published)} before, and not cancelled in time"


def _apart(x: Row, y: Row) -> str:
    ns = y["t"] - x["t"]
    return f"{ns / 1e9:.3f} s" if ns >= 1000 * _MS else f"{ns / _MS:.3f} ms"


def judged(
    life: Life, published: Row, delivered: list[Row], flight_ns: int, excuses: list[Span], seen_until_t: int | None
) -> Judgement:
    """`delivered`: to this client. `seen_until_t`: when the logs end, if the run has not come to its end."""
    must, why = duty(life, published, flight_ns)
    named = next((row for row in delivered if life.sub in (row["subs"] or ())), None)
    found = Judgement(life.sub, life.client, life.broker, life.filter, must, why, "not delivered")
    arrived = named or (delivered[0] if delivered and must == REQUIRED else None)
    if arrived is not None:
        found.delivered_t, found.delay_ns = arrived["t"], arrived["t"] - published["t"]
        found.outcome = "wrongly delivered" if must == FORBIDDEN else "delivered"
        if named is None:
            found.why += "; the delivery does not name it"
        over = life.at.get("unsubscribed")
        if must != FORBIDDEN and over is not None and before(over, arrived):
            found.outcome = "wrongly delivered"
            found.why += ", but its cancellation was confirmed before the delivery"
    elif must == REQUIRED:
        is_under_way = seen_until_t is not None and seen_until_t - published["t"] <= flight_ns
        found.outcome = "under way" if is_under_way else "missing"
        if not is_under_way:
            found.excused_by = _excuse(excuses, published["t"], flight_ns)
    return found


def _excuse(excuses: list[Span], published_t: int, flight_ns: int) -> str | None:
    end_t = published_t + flight_ns
    return next((span.fault for span in excuses if published_t <= span.end_t and end_t >= span.start_t), None)


def flight_of(verdict: dict[str, Any]) -> int:
    """What the audit found; before there was one, the contract's least."""
    told = verdict.get("flight_ns")
    return told if isinstance(told, int) else FLIGHT_NS_MIN
