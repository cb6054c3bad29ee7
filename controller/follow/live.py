"""What is known of a run so far: who still waits for what, what came late, how long queues are. Pure.

Lines of different files may come in any order; what is said at the end is what the audit says of the whole.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from functools import reduce
from operator import or_
from typing import Any

import msgspec

from controller.audit.evidence import FLIGHT_NS_MIN
from controller.audit.promise import excusing, windows
from controller.judge.reading import Condition, Unreadable, condition
from controller.judge.twin import before
from node.core import records
from node.core.records import RECORDS, Record

CONTROLLER = "controller"
LATE_NS = FLIGHT_NS_MIN
_decoder = msgspec.json.Decoder(reduce(or_, RECORDS))


class State(msgspec.Struct):
    """`missing` are required deliveries that no fault excuses, longer on their way than the flight time."""

    published: int
    delivered: int
    missing: int
    excused: int
    waiting: int
    duplicates: int
    late: int
    flight_ns: int
    delay_p50_ns: int | None
    delay_p99_ns: int | None
    delay_max_ns: int | None
    queues: dict[str, int]
    """The longest that each broker has told of."""
    queues_now: dict[str, int]
    seen_until_t: int


class Told(msgspec.Struct):
    """A subscription as far as it has been told of."""

    sub: str
    at: dict[str, Any] = {}

    @property
    def first(self) -> Any:
        return next(iter(self.at.values()))


class Live:
    def __init__(self, promise: str | None) -> None:
        self._promise = promise
        self._subs: dict[str, Told] = {}
        self._detached: dict[tuple[str, str], list[records.Detach]] = defaultdict(list)
        self._refused: set[str] = set()
        self._published: dict[str, records.Publish] = {}
        self._by_publisher: dict[str, list[records.Publish]] = defaultdict(list)
        self._got: dict[tuple[str, str], records.Deliver] = {}
        self._copies: dict[tuple[str, str], int] = defaultdict(int)
        self._open: dict[tuple[str, str], set[str]] = defaultdict(set)
        """(client, msg) → the subscriptions that match; what has been delivered is not here."""
        self._controller: list[dict[str, Any]] = []
        self._advertisements: dict[str, dict[str, Any]] = defaultdict(dict)
        self._queues: dict[str, int] = {}
        self._queues_now: dict[str, int] = {}
        self._opened: set[str] = set()
        self._closed: set[str] = set()
        self._seen_until_t = 0

    @property
    def is_over(self) -> bool:
        """The controller has closed its log, which it does last."""
        return any(name.startswith(f"{CONTROLLER}.") for name in self._closed)

    def take(self, lines: Iterable[tuple[str, bytes]]) -> None:
        """Lines with the names of their files; what cannot be read is left to the audit."""
        new_subs, new_messages = [], []
        for name, line in lines:
            try:
                record = _decoder.decode(line)
            except (ValueError, RecursionError):
                continue
            self._seen_until_t = max(self._seen_until_t, record.t)
            if isinstance(record, records.Subscribe | records.Established):
                new_subs.append(record.sub)
            elif isinstance(record, records.Publish):
                new_messages.append(record.msg)
            self._note(name, record)
        fresh = set(new_messages)
        for sub in dict.fromkeys(new_subs):
            self._match(self._subs[sub], [made for made in self._published.values() if made.msg not in fresh])
        made = [self._published[msg] for msg in dict.fromkeys(new_messages)]
        for told in self._subs.values() if made else ():
            self._match(told, made)

    def _note(self, name: str, record: Record) -> None:
        match record:
            case records.Open():
                self._opened.add(name)
            case records.Close():
                self._closed.add(name)
            case records.Subscribe() | records.Established() | records.Unsubscribe() | records.Unsubscribed():
                told = self._subs.setdefault(record.sub, Told(record.sub, {}))
                told.at.setdefault(type(record).__name__, record)
            case records.Advertise() | records.Advertised() | records.Unadvertise():
                self._advertisements[record.adv].setdefault(type(record).__name__, record)
            case records.Detach():
                self._detached[record.client, record.broker].append(record)
            case records.Refuse():
                self._refused.add(record.what)
            case records.Publish():
                self._published.setdefault(record.msg, record)
            case records.Deliver():
                self._deliver(record)
            case records.Sample():
                self._queues[record.node] = max(record.queue, self._queues.get(record.node, 0))
                self._queues_now[record.node] = record.queue
            case records.Fault() | records.Phase():
                self._controller.append(_row(record))

    def _deliver(self, record: records.Deliver) -> None:
        key = record.client, record.msg
        self._copies[key] += 1
        known = self._got.get(key)
        if known is None or (record.t, record.n) < (known.t, known.n):
            self._got[key] = record
        self._open.pop(key, None)

    def _match(self, told: Told, messages: list[records.Publish]) -> None:
        """With what may be required: published after it was asked for, or promised by number."""
        asked = told.at.get("Subscribe") or told.first
        established = told.at.get("Established")
        since = (established.since if established is not None else None) or {}
        holds = _condition(asked.filter, asked.lang)
        if holds is None:
            return
        for made in messages:
            may_be_owed = made.t >= asked.t or made.client in since
            key = asked.client, made.msg
            if may_be_owed and key not in self._got and made.lang == asked.lang and holds(made.content):
                self._open[key].add(told.sub)

    def state(self) -> State:
        flight_ns = self._flight_ns()
        faults, _ = windows(sorted(self._controller, key=lambda row: (row["inc"], row["n"])))
        excuses = excusing(self._promise, faults)
        missing = excused = waiting = 0
        for (_, msg), subs in self._open.items():
            made = self._published[msg]
            if self._is_outside(made) or not any(self._requires(self._subs[sub], made, flight_ns) for sub in subs):
                continue
            end_t = made.t + flight_ns
            if any(made.t <= span.end_t and end_t >= span.start_t for span in excuses):
                excused += 1
            elif self._seen_until_t < end_t and not self.is_over:
                waiting += 1
            else:
                missing += 1
        delays = sorted(self._delays())
        uncorrected = [got.t - made.t for got, made in self._pairs()]
        return State(
            len(self._published), sum(self._copies.values()), missing, excused, waiting,
            sum(count - 1 for count in self._copies.values()), sum(ns > LATE_NS for ns in uncorrected), flight_ns,
            _at(delays, 0.5), _at(delays, 0.99), delays[-1] if delays else None,
            dict(sorted(self._queues.items())), dict(sorted(self._queues_now.items())), self._seen_until_t,
        )  # fmt: skip

    def _pairs(self) -> Iterable[tuple[records.Deliver, records.Publish]]:
        for (_, msg), got in self._got.items():
            made = self._published.get(msg)
            if made is not None and (made.client, made.seq) == (got.publisher, got.seq):
                yield got, made

    def _delays(self) -> Iterable[int]:
        """From when it was intended to be sent: a publisher held back hides nothing."""
        return (got.t - made.intended_t for got, made in self._pairs())

    def _flight_ns(self) -> int:
        """Only what took longer than the least is looked into, the longest first."""
        slow = [(got, made) for got, made in self._pairs() if got.t - made.t > FLIGHT_NS_MIN]
        slow.sort(key=lambda pair: pair[1].t - pair[0].t)
        return next((got.t - made.t for got, made in slow if self._is_rightful(got, made)), FLIGHT_NS_MIN)

    def _is_rightful(self, got: records.Deliver, made: records.Publish) -> bool:
        return any(self._allows(told, got, made) for told in self._subs.values())

    def _allows(self, told: Told, got: records.Deliver, made: records.Publish) -> bool:
        asked, over = told.at.get("Subscribe"), told.at.get("Unsubscribed")
        holds = _condition(told.first.filter, told.first.lang)
        if holds is None or told.first.client != got.client or told.first.lang != made.lang:
            return False
        in_time = not (before(over, made) or before(over, got) or before(got, asked))
        return in_time and holds(made.content)

    def _requires(self, told: Told, made: records.Publish, flight_ns: int) -> bool:
        established = told.at.get("Established")
        if established is None or told.sub in self._refused:
            return False
        since = (established.since or {}).get(made.client)
        owed = before(established, made) if since is None else made.seq >= since
        begun = told.at.get("Subscribe") or established
        left = [one for one in self._detached[established.client, established.broker] if before(begun, one)]
        cancels = [one.t for one in (told.at.get("Unsubscribe"), *left[:1]) if one is not None]
        return owed and all(t - made.t > flight_ns for t in cancels)

    def _is_outside(self, made: records.Publish) -> bool:
        """Published by who advertises, but under nothing that was confirmed and not withdrawn: nothing is promised."""
        own = [life for life in self._advertisements.values() if next(iter(life.values())).client == made.client]
        return bool(own) and not any(_covers(life, made) for life in own)


def _covers(life: dict[str, Any], made: records.Publish) -> bool:
    first = next(iter(life.values()))
    holds = _condition(first.filter, first.lang)
    gone = life.get("Unadvertise")
    is_match = holds is not None and first.lang == made.lang and holds(made.content)
    return is_match and before(life.get("Advertised"), made) and (gone is None or before(made, gone))


def _condition(text: str, lang: str) -> Condition | None:
    try:
        return condition(text, lang)
    except Unreadable:
        return None


def _row(record: records.Fault | records.Phase) -> dict[str, Any]:
    row = msgspec.to_builtins(record)
    if isinstance(record, records.Fault):
        row["args"] = msgspec.json.encode(record.args)
    return row


def _at(ordered: list[int], share: float) -> int | None:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else None
