"""The contract read naively: loops over all pairs of a run's log lines, no Spark, no parser, nothing clever.

Filters are not parsed but handed over as `conditions`: sub id → a function of the content.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

Line = dict[str, Any]
Condition = Callable[[Any], bool]
Found = tuple[str, str, str, int, bool]

FLIGHT_NS_MIN = 2 * 10**9


def before(x: Line, y: Line) -> bool:
    if (x["node"], x["inc"]) == (y["node"], y["inc"]):
        return bool(x["n"] < y["n"])
    return bool(x["t"] < y["t"])


class Sub:
    def __init__(self, lines: list[Line], departures: list[Line], condition: Condition) -> None:
        self.at = {event: next((line for line in lines if line["event"] == event), None)
                   for event in ("subscribe", "established", "unsubscribe", "unsubscribed")}  # fmt: skip
        self.asked = lines[0]
        self.client = lines[0]["client"]
        self.id = lines[0]["sub"]
        self.condition = condition
        left = [
            d
            for d in departures
            if d["client"] == self.client and d["broker"] == lines[0]["broker"] and before(self.asked, d)
        ]
        ends = [self.at["unsubscribe"], *left]
        self.cancels = [line for line in ends if line is not None]

    def forbidden(self, published: Line, delivered: Line) -> bool:
        unsubscribed = self.at["unsubscribed"]
        if not self.condition(published["content"]):
            return True
        if unsubscribed and (before(unsubscribed, published) or before(unsubscribed, delivered)):
            return True
        return before(delivered, self.asked)

    def required(self, published: Line, flight_ns: int) -> bool:
        established = self.at["established"]
        if established is None or not self.condition(published["content"]):
            return False
        since = (established.get("since") or {}).get(published["client"])
        owed = before(established, published) if since is None else published["seq"] >= since
        return owed and all(cancel["t"] > published["t"] + flight_ns for cancel in self.cancels)


class Twin:
    def __init__(self, files: list[list[Line]], conditions: dict[str, Condition],
                 windows: list[tuple[int, int]]) -> None:  # fmt: skip
        lines = sorted((line for file in files for line in file), key=lambda line: (line["t"], line["n"], line["node"]))
        self.windows = windows
        self.published = {line["msg"]: line for line in lines if line["event"] == "publish"}
        self.delivered = [line for line in lines if line["event"] == "deliver"]
        departures = [line for line in lines if line["event"] == "detach"]
        lives: dict[str, list[Line]] = defaultdict(list)
        for line in lines:
            if "sub" in line:
                lives[line["sub"]].append(line)
        self.subs = [Sub(life, departures, conditions[sub]) for sub, life in lives.items()]
        rightful = [d for d in self.first_copies() if self.allowed(d)]
        delays = [d["t"] - self.published[d["msg"]]["t"] for d in rightful]
        self.flight_ns = max([FLIGHT_NS_MIN, *delays])

    def first_copies(self) -> list[Line]:
        seen: dict[tuple[str, str], Line] = {}
        for line in self.delivered:
            seen.setdefault((line["client"], line["msg"]), line)
        return list(seen.values())

    def allowed(self, delivered: Line) -> list[str]:
        published = self.published.get(delivered["msg"])
        if published is None:
            return []
        return [s.id for s in self.subs if s.client == delivered["client"] and not s.forbidden(published, delivered)]

    def required(self, client: str, published: Line) -> list[str]:
        return [s.id for s in self.subs if s.client == client and s.required(published, self.flight_ns)]

    def excused(self, published: Line) -> bool:
        start, end = published["t"], published["t"] + self.flight_ns
        return any(start <= window_end and end >= window_start for window_start, window_end in self.windows)

    def violations(self) -> list[Found]:
        return sorted([*self.missing(), *self.spurious(), *self.named(), *self.twice(), *self.late()])

    def missing(self) -> Iterator[Found]:
        got = {(line["client"], line["msg"]) for line in self.delivered}
        for client in sorted({s.client for s in self.subs}):
            for msg, published in self.published.items():
                if self.required(client, published) and (client, msg) not in got:
                    yield "missing", client, msg, published["t"], self.excused(published)

    def spurious(self) -> Iterator[Found]:
        for line in self.delivered:
            if not self.allowed(line):
                yield "spurious", line["client"], line["msg"], line["t"], False

    def named(self) -> Iterator[Found]:
        for line in self.delivered:
            allowed = self.allowed(line)
            if not allowed:
                continue
            published = self.published[line["msg"]]
            wrong = not line["subs"] or not set(line["subs"]) <= set(allowed)
            here = {s.id for s in self.subs if s.asked["broker"] == line["broker"]}
            left_out = not set(self.required(line["client"], published)) & here <= set(line["subs"])
            if wrong or left_out:
                yield "subs", line["client"], line["msg"], line["t"], not wrong and self.excused(published)

    def twice(self) -> Iterator[Found]:
        first = {(line["node"], line["n"]) for line in self.first_copies()}
        for line in self.delivered:
            if (line["node"], line["n"]) not in first:
                yield "duplicate", line["client"], line["msg"], line["t"], False

    def late(self) -> Iterator[Found]:
        first = self.first_copies()
        for line in first:
            if any(other["client"] == line["client"] and other["publisher"] == line["publisher"]
                   and other["seq"] >= line["seq"] and before(other, line) for other in first):  # fmt: skip
                yield "order", line["client"], line["msg"], line["t"], False
