"""Who had to get what, and who got what: loops over publications, subscriptions and deliveries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from controller.audit.promise import Span
from controller.judge.reading import Condition, Unreadable, condition
from node.core import records
from node.core.records import Record

FLIGHT_NS_MIN = 2 * 10**9
Read = Callable[[str, str], Condition]
OneOfASubscription = records.Subscribe | records.Established | records.Unsubscribe | records.Unsubscribed
OneOfAnAdvertisement = records.Advertise | records.Advertised | records.Unadvertise


class Found(NamedTuple):
    """One breach of one property."""

    check: str
    client: str
    msg: str
    t: int
    excused: bool
    detail: str
    is_loss: bool = False
    """It rests on what the log does not say."""


def before(x: Record | None, y: Record | None) -> bool:
    """The contract's order: by line within a file, by time across files."""
    if x is None or y is None:
        return False
    return x.n < y.n if (x.node, x.inc) == (y.node, y.inc) else x.t < y.t


class Sub:
    """The life of a subscription."""

    def __init__(
        self, lines: list[OneOfASubscription], detached: Iterable[records.Detach], is_refused: bool, read: Read
    ) -> None:
        first = {type(line): line for line in reversed(lines)}
        self.id = lines[0].sub
        self.client = lines[0].client
        self.broker = lines[0].broker
        self.lang = lines[0].lang
        self.filter = lines[0].filter
        self.is_refused = is_refused
        self.asked = first.get(records.Subscribe)
        self.established: records.Established | None = first.get(records.Established)  # type: ignore[assignment]
        self.unsubscribe = first.get(records.Unsubscribe)
        self.unsubscribed = first.get(records.Unsubscribed)
        begun = self.asked or self.established
        self.detach = next((one for one in detached if one.broker == self.broker and before(begun, one)), None)
        self.cancels = [line.t for line in (self.unsubscribe, self.detach) if line is not None]
        self.unreadable = ""
        self.condition: Condition = lambda content: False
        try:
            self.condition = read(self.filter, self.lang)
        except Unreadable as why:
            self.unreadable = str(why)

    def allows(self, published: records.Publish, delivered: records.Deliver) -> bool:
        """Of a publication that matches: neither forbidden by when it was published nor by when it was delivered."""
        return not (self.is_over(published, delivered) or before(delivered, self.asked))

    def is_over(self, published: records.Publish, delivered: records.Deliver) -> bool:
        """Its cancellation was confirmed before it was published, or before it was delivered."""
        return before(self.unsubscribed, published) or before(self.unsubscribed, delivered)

    def requires(self, published: records.Publish, flight_ns: int) -> bool:
        """Of a publication that matches."""
        if self.established is None or self.is_refused:
            return False
        since = (self.established.since or {}).get(published.client)
        owed = before(self.established, published) if since is None else published.seq >= since
        return owed and all(cancel_t > published.t + flight_ns for cancel_t in self.cancels)


class Twin:
    def __init__(self, lines: list[Record], excusing: Iterable[Span], read: Read = condition) -> None:
        """Lines in order of time; the spans are when a loss is excused."""
        self._excusing = list(excusing)
        self._read = read
        self.published: dict[str, records.Publish] = {}
        self.delivered: list[records.Deliver] = []
        self._of_sub: dict[str, list[OneOfASubscription]] = defaultdict(list)
        self._of_adv: dict[str, list[OneOfAnAdvertisement]] = defaultdict(list)
        detached: dict[str, list[records.Detach]] = defaultdict(list)
        refused: set[str] = set()
        for line in lines:
            match line:
                case records.Publish():
                    self.published.setdefault(line.msg, line)
                case records.Deliver():
                    self.delivered.append(line)
                case records.Detach():
                    detached[line.client].append(line)
                case records.Refuse():
                    refused.add(line.what)
                case records.Subscribe() | records.Established() | records.Unsubscribe() | records.Unsubscribed():
                    self._of_sub[line.sub].append(line)
                case records.Advertise() | records.Advertised() | records.Unadvertise():
                    self._of_adv[line.adv].append(line)
        self.subs = [Sub(life, detached[life[0].client], sub in refused, read) for sub, life in self._of_sub.items()]
        self._subs_of: dict[str, list[Sub]] = defaultdict(list)
        for sub in self.subs:
            self._subs_of[sub.client].append(sub)
        self._matching: dict[tuple[str, str], dict[str, None]] = {}

    def _matched_by(self, sub: Sub) -> dict[str, None]:
        """The publications that a filter matches; equal filters are asked once."""
        key = sub.lang, sub.filter
        if key not in self._matching:
            self._matching[key] = {
                msg: None
                for msg, made in self.published.items()
                if made.lang == sub.lang and sub.condition(made.content)
            }
        return self._matching[key]

    @cached_property
    def flight_ns(self) -> int:
        rightful = [one for one in self.first_copies if self._allowed(one)]
        return max([FLIGHT_NS_MIN, *(one.t - self.published[one.msg].t for one in rightful)])

    @cached_property
    def first_copies(self) -> list[records.Deliver]:
        seen: dict[tuple[str, str], records.Deliver] = {}
        for line in self.delivered:
            seen.setdefault((line.client, line.msg), line)
        return list(seen.values())

    def _allowed(self, delivered: records.Deliver) -> list[Sub]:
        return [sub for made, sub in self._asking(delivered) if sub.allows(made, delivered)]

    def _asking(self, delivered: records.Deliver) -> list[tuple[records.Publish, Sub]]:
        """What was published, with each of the client's subscriptions that it matches."""
        made = self.published.get(delivered.msg)
        if made is None or (made.client, made.seq) != (delivered.publisher, delivered.seq):
            return []
        return [(made, sub) for sub in self._subs_of[delivered.client] if made.msg in self._matched_by(sub)]

    def _required(self, client: str, made: records.Publish) -> list[Sub]:
        if made.msg in self.unadvertised:
            return []
        return [
            sub
            for sub in self._subs_of[client]
            if made.msg in self._matched_by(sub) and sub.requires(made, self.flight_ns)
        ]

    @cached_property
    def unadvertised(self) -> dict[str, records.Publish]:
        """What was published outside of what its publisher had advertised: nothing is promised for that."""
        by_client: dict[str, list[list[OneOfAnAdvertisement]]] = defaultdict(list)
        for life in self._of_adv.values():
            by_client[life[0].client].append(life)
        return {
            msg: made
            for msg, made in self.published.items()
            if made.client in by_client and not any(self._covers(life, made) for life in by_client[made.client])
        }

    def _covers(self, life: list[OneOfAnAdvertisement], made: records.Publish) -> bool:
        """Whether an advertisement was confirmed and not withdrawn when this was published, and matches it."""
        first = {type(line): line for line in reversed(life)}
        gone = first.get(records.Unadvertise)
        try:
            is_match = life[0].lang == made.lang and self._read(life[0].filter, life[0].lang)(made.content)
        except Unreadable:
            return False
        return is_match and before(first.get(records.Advertised), made) and (gone is None or before(made, gone))

    @property
    def pairs_required(self) -> int:
        return sum(
            sub.requires(self.published[msg], self.flight_ns)
            for sub in self.subs
            for msg in self._matched_by(sub)
            if msg not in self.unadvertised
        )

    def _excuse(self, made: records.Publish) -> str | None:
        start, end = made.t, made.t + self.flight_ns
        return next((one.fault for one in self._excusing if start <= one.end_t and end >= one.start_t), None)

    def violations(self) -> list[Found]:
        return [*self.missing(), *self.spurious(), *self.named(), *self.twice(), *self.late()]

    def missing(self) -> Iterator[Found]:
        got = {(line.client, line.msg) for line in self.delivered}
        owed: dict[tuple[str, str], list[Sub]] = defaultdict(list)
        for sub in self.subs:
            for msg in self._matched_by(sub):
                made = self.published[msg]
                is_owed = (sub.client, msg) not in got and msg not in self.unadvertised
                if is_owed and sub.requires(made, self.flight_ns):
                    owed[sub.client, msg].append(sub)
        for (client, msg), subs in owed.items():
            made = self.published[msg]
            excuse = self._excuse(made)
            told = f"{client} did not get {msg}, published by {made.client} and required by {_ids(subs)}"
            yield Found("missing", client, msg, made.t, excuse is not None, told + _excused_by(excuse), True)

    def spurious(self) -> Iterator[Found]:
        for line in self.delivered:
            if self._allowed(line):
                continue
            if any(sub.is_over(made, line) for made, sub in self._asking(line)):
                told = f"{line.client} got {line.msg} after its subscription was cancelled"
                yield Found("unsubscribed", line.client, line.msg, line.t, False, told)
            else:
                told = f"{line.client} got {line.msg} without any right"
                yield Found("spurious", line.client, line.msg, line.t, False, told)

    def named(self) -> Iterator[Found]:
        """A client that moves has two brokers; the one that brings a message cannot name what was asked elsewhere."""
        for line in self.delivered:
            allowed = self._allowed(line)
            if not allowed:
                continue
            made = self.published[line.msg]
            wrong = not line.subs or not set(line.subs) <= {sub.id for sub in allowed}
            owed = {sub.id for sub in self._required(line.client, made) if sub.broker == line.broker}
            if wrong or not owed <= set(line.subs):
                excuse = None if wrong else self._excuse(made)
                told = f"{line.client} got {line.msg} for [{', '.join(line.subs)}]"
                left_out = sorted(owed - set(line.subs))
                told += f", left out: {', '.join(left_out)}" if left_out else ""
                told += _excused_by(excuse)
                yield Found("subs", line.client, line.msg, line.t, excuse is not None, told, not wrong)

    def twice(self) -> Iterator[Found]:
        first = {(line.node, line.inc, line.n) for line in self.first_copies}
        for line in self.delivered:
            if (line.node, line.inc, line.n) not in first:
                yield Found("duplicate", line.client, line.msg, line.t, False, f"{line.client} got {line.msg} again")

    def late(self) -> Iterator[Found]:
        streams: dict[tuple[str, str], list[records.Deliver]] = defaultdict(list)
        for line in self.first_copies:
            streams[line.client, line.publisher].append(line)
        for (client, publisher), stream in streams.items():
            highest: records.Deliver | None = None
            for line in stream:
                overtaken = [highest] if highest is not None and _is_one_file(stream) else stream
                seqs = [other.seq for other in overtaken if before(other, line)]
                if seqs and max(seqs) >= line.seq:
                    told = f"{client} got {line.msg} after number {max(seqs)} of {publisher}"
                    yield Found("order", client, line.msg, line.t, False, told)
                if highest is None or line.seq > highest.seq:
                    highest = line


def _is_one_file(stream: list[records.Deliver]) -> bool:
    """Then the highest number so far is all there is to know; a client's deliveries mostly are."""
    return len({(line.node, line.inc) for line in stream}) == 1


def _ids(subs: Iterable[Sub]) -> str:
    return ", ".join(sub.id for sub in subs)


def _excused_by(fault: str | None) -> str:
    return f"; excused by fault {fault}" if fault is not None else ""
