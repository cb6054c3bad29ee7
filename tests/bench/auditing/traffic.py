"""Logs of a run that never took place: a tree of brokers under load and churn, a death, and a few planted violations.

Everything is drawn from one seed and written as it is drawn, so that the logs may be larger than memory. Who matches
what is decided here by masks over columns, with neither the brokers' matcher nor the audit's.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

from tests.bench.auditing.asked import Columns, Content, Filter, Interests, content, text

US, MS, SECOND = 1_000, 1_000_000, 1_000_000_000
START_T = 1_760_000_000 * SECOND
BROKERS, FAN_OUT = 40, 3
DRIVERS, CLIENTS, PUBLISHERS = 4, 400, 8
SUBSCRIPTIONS = 1_000
UNCOVERED = 0.1
BATCH = 1_000
CHURN_PER_BATCH = 10
SLOT_NS = 2 * MS
HOP_NS = 100 * US
SAMPLE_NS = SECOND
DEAD_FOR_NS = 2 * SECOND
PLANTED_LOST, PLANTED_DOUBLED = 3, 2


class Written(NamedTuple):
    """What a correct audit finds in there."""

    lines: int
    bytes: int
    publications: int
    lost: int
    lost_in_fault: int
    doubled: int


class File:
    """A log file that numbers its lines."""

    def __init__(self, folder: Path, node: str, inc: int, role: str, t: int) -> None:
        self._file = (folder / f"{node}.{inc}.jsonl").open("w", buffering=1 << 18, encoding="utf-8")
        self._same = f'"node":"{node}","inc":{inc},"n":'
        self.n = 0
        self.t = t
        self.line(t, "open", f'"role":"{role}","version":"0.1.0","scheme":"simple"')

    def line(self, t: int, event: str, rest: str) -> int:
        self.n += 1
        self.t = max(self.t, t)
        self._file.write(f'{{"event":"{event}","t":{self.t},{self._same}{self.n}{"," if rest else ""}{rest}}}\n')
        return self.n

    def close(self, t: int | None) -> int:
        """Returns the file's size; a node that was killed closes nothing."""
        if t is not None:
            self.line(t, "close", "")
        size = self._file.tell()
        self._file.close()
        return size


class Subscription(NamedTuple):
    sub: str
    client: int
    filter: Filter

    @property
    def about(self) -> str:
        said = {"client": f"c{self.client}", "broker": broker_of(self.client), "sub": self.sub,
                "filter": text(self.filter), "lang": "attr"}  # fmt: skip
        return json.dumps(said, ensure_ascii=False)[1:-1]


def broker_of(client: int) -> str:
    """Publishers sit at the first brokers, which are never killed."""
    return f"b{client % BROKERS}"


def driver_of(client: int) -> int:
    return client % DRIVERS


class Overlay:
    """A tree; `ways[origin]` gives, for every broker, the one before it on the way from there, nearest first."""

    def __init__(self) -> None:
        parents = {n: (n - 1) // FAN_OUT for n in range(1, BROKERS)}
        self.links = [(f"b{parent}", f"b{child}") for child, parent in parents.items()]
        self.neighbours: dict[str, list[str]] = defaultdict(list)
        for a, b in self.links:
            self.neighbours[a].append(b)
            self.neighbours[b].append(a)
        self._ways: dict[str, dict[str, str | None]] = {}

    def way(self, origin: str) -> dict[str, str | None]:
        if origin not in self._ways:
            before: dict[str, str | None] = {origin: None}
            for broker in before_grows(before):
                for neighbour in self.neighbours[broker]:
                    before.setdefault(neighbour, broker)
            self._ways[origin] = before
        return self._ways[origin]

    def spread(self, origin: str, targets: set[str]) -> dict[str, list[str]]:
        """Who passes it on to whom, from the origin outwards."""
        before = self.way(origin)
        crossed: set[str] = {origin}
        for target in targets:
            at: str | None = target
            while at is not None and at not in crossed:
                crossed.add(at)
                at = before[at]
        on: dict[str, list[str]] = {broker: [] for broker in before if broker in crossed}
        for broker in on:
            came_from = before[broker]
            if came_from is not None:
                on[came_from].append(broker)
        return on


def before_grows(found: dict[str, str | None]) -> Iterator[str]:
    """Goes on with what is found meanwhile."""
    position = 0
    while position < len(found):
        yield list(found)[position]
        position += 1


class Traffic:
    def __init__(self, folder: Path, lines: int, seed: int) -> None:
        self.folder, self.lines_wanted = folder, lines
        self.random = Random(f"{seed}/traffic")
        self.interests = Interests(Random(f"{seed}/interests"))
        self.overlay = Overlay()
        self.t = START_T
        self.subs: dict[str, Subscription] = {}
        self.sub_count = 0
        self.seqs = [0] * PUBLISHERS
        self.publications = self.lost = self.lost_in_fault = self.doubled = 0
        self.bytes = self.lines_closed = 0
        self.victim = f"b{BROKERS - 1}"
        self.dead_until: int | None = None

    def write(self) -> Written:
        logs = self.folder / "logs"
        logs.mkdir(parents=True)
        self._describe()
        self.controller = File(logs, "controller", 1, "controller", self.t)
        self.brokers = {f"b{n}": File(logs, f"b{n}", 1, "broker", self.t) for n in range(BROKERS)}
        self.drivers = [File(logs, f"driver{n}", 1, "driver", self.t) for n in range(DRIVERS)]
        for client in range(CLIENTS):
            self._drive(client, "attach", f'"client":"c{client}","broker":"{broker_of(client)}"')
        for _ in range(SUBSCRIPTIONS):
            self._subscribe()
        self.t += SECOND
        self.controller.line(self.t, "phase", '"name":"load","state":"start"')
        while (lines := self._lines()) < self.lines_wanted:
            self._batch()
            if self.dead_until is None and lines > self.lines_wanted / 2:
                self._kill()
            elif self.dead_until is not None and self.victim not in self.brokers and self.t > self.dead_until:
                self._revive()
        return self._end()

    def _describe(self) -> None:
        brokers = [{"name": f"b{n}", "role": "inner" if n * FAN_OUT + 1 < BROKERS else "leaf"} for n in range(BROKERS)]
        links = [{"a": a, "b": b, "delay_ms": 0, "weight": 1} for a, b in self.overlay.links]
        (self.folder / "topology.json").write_text(json.dumps({"brokers": brokers, "links": links}))
        run = {"promise": "self-healing", "declares": [], "drivers": [f"driver{n}" for n in range(DRIVERS)],
               "scheme": "simple", "campaign": "traffic"}  # fmt: skip
        (self.folder / "run.json").write_text(json.dumps(run))

    def _lines(self) -> int:
        files = [self.controller, *self.brokers.values(), *self.drivers]
        return self.lines_closed + sum(file.n for file in files)

    def _drive(self, client: int, event: str, rest: str) -> None:
        self.drivers[driver_of(client)].line(self.t, event, rest)

    def _subscribe(self) -> None:
        self.sub_count += 1
        made = Subscription(f"s{self.sub_count}", self.random.randrange(CLIENTS), self.interests.draw())
        self._drive(made.client, "subscribe", made.about)
        self._flood("subscribe", made)
        self._drive(made.client, "established", made.about)
        self.subs[made.sub] = made

    def _unsubscribe(self) -> None:
        gone = self.subs.pop(self.random.choice(list(self.subs)))
        self._drive(gone.client, "unsubscribe", gone.about)
        self._flood("unsubscribe", gone)
        self._drive(gone.client, "unsubscribed", gone.about)

    def _flood(self, kind: str, asked: Subscription) -> None:
        origin = broker_of(asked.client)
        rest = f'"kind":"{kind}","sub":"{asked.sub}"'
        told = set(self.overlay.way(origin)) if self.random.random() < UNCOVERED else {origin}
        self._spread(origin, f"c{asked.client}", told, rest, 1, {})
        self.t += 2 * MS

    def _spread(self, origin: str, client: str, targets: set[str], rest: str, entries: int,
                locals_: dict[str, list[int]]) -> dict[str, int]:  # fmt: skip
        """Broker by broker; returns when each of them had it. Nothing passes a dead one."""
        came: dict[str, tuple[str, int]] = {origin: (client, self.t)}
        handled: dict[str, int] = {}
        length = 90 + 40 * entries
        for broker, on in self.overlay.spread(origin, targets).items():
            if broker not in came or broker not in self.brokers:
                continue
            came_from, sent_t = came[broker]
            file = self.brokers[broker]
            t = handled[broker] = sent_t + HOP_NS
            wait_ns = self.random.randrange(5, 50) * US
            cause = file.line(t, "handle", f'"from":"{came_from}",{rest},"wait_ns":{wait_ns},"work_ns":{40 * US}')
            for to in on:
                file.line(t, "forward", f'"to":"{to}",{rest},"entries":{entries},"bytes":{length},"cause":{cause}')
                came[to] = (broker, t)
            for local in locals_.get(broker, ()):
                file.line(t, "forward", f'"to":"c{local}",{rest},"entries":0,"bytes":{length},"cause":{cause}')
        return handled

    def _batch(self) -> None:
        for _ in range(CHURN_PER_BATCH):
            self._unsubscribe()
            self._subscribe()
        contents = [content(self.random) for _ in range(BATCH)]
        columns = Columns(contents)
        wanted: list[dict[int, list[str]]] = [defaultdict(list) for _ in contents]
        masks: dict[Filter, list[int]] = {}
        for sub in self.subs.values():
            if sub.filter not in masks:
                masks[sub.filter] = columns.matched(sub.filter)
            for place in masks[sub.filter]:
                wanted[place][sub.client].append(sub.sub)
        for said, receivers in zip(contents, wanted, strict=True):
            self._publish(said, receivers)
            self.t += SLOT_NS
        if self.t // SAMPLE_NS > (self.t - BATCH * SLOT_NS) // SAMPLE_NS:
            for file in self.brokers.values():
                file.line(self.t, "sample", f'"queue":{self.random.randrange(9)},"table":{len(self.subs)},"unacked":0,'
                                            '"rss":24000000,"cpu_ns":1000000,"lag_ns":1000')  # fmt: skip

    def _publish(self, said: Content, receivers: dict[int, list[str]]) -> None:
        self.publications += 1
        publisher = self.random.randrange(PUBLISHERS)
        self.seqs[publisher] += 1
        seq = self.seqs[publisher]
        msg = f'"msg":"c{publisher}:{seq}"'
        origin = broker_of(publisher)
        content_ = json.dumps(said, ensure_ascii=False)
        self._drive(publisher, "publish", f'"client":"c{publisher}","broker":"{origin}",{msg},"seq":{seq},'
                                          f'"content":{content_},"lang":"attr",'
                                          f'"intended_t":{self.t - self.random.randrange(2 * MS)}')  # fmt: skip
        locals_: dict[str, list[int]] = defaultdict(list)
        for client in receivers:
            locals_[broker_of(client)].append(client)
        handled = self._spread(origin, f"c{publisher}", set(locals_), f'"kind":"publication",{msg}', 0, locals_)
        for broker, t in handled.items():
            for client in locals_[broker]:
                subs = json.dumps(receivers[client])
                self._deliver(client, t + HOP_NS, f'{msg},"publisher":"c{publisher}","seq":{seq},"subs":{subs}')
        dead = sum(len(clients) for broker, clients in locals_.items() if broker not in handled)
        self.lost_in_fault += dead

    def _deliver(self, client: int, t: int, rest: str) -> None:
        if self.lost < PLANTED_LOST and self.publications % 97 == 0:
            self.lost += 1
            return
        file = self.drivers[driver_of(client)]
        file.line(t, "deliver", f'"client":"c{client}","broker":"{broker_of(client)}",{rest}')
        if self.doubled < PLANTED_DOUBLED and self.publications % 89 == 0:
            self.doubled += 1
            file.line(t, "deliver", f'"client":"c{client}","broker":"{broker_of(client)}",{rest}')

    def _kill(self) -> None:
        self._fault("apply")
        self._closed(self.brokers.pop(self.victim), None)
        self.dead_until = self.t + DEAD_FOR_NS

    def _revive(self) -> None:
        self.brokers[self.victim] = File(self.folder / "logs", self.victim, 2, "broker", self.t)
        self.t += MS
        self._fault("heal")
        self.controller.line(self.t, "phase", '"name":"quiet","state":"start"')
        self.t += MS

    def _fault(self, phase: str) -> None:
        self.controller.line(self.t, "fault", f'"id":"k1","kind":"kill","target":"broker:{self.victim}",'
                                              f'"phase":"{phase}","args":{{}}')  # fmt: skip

    def _closed(self, file: File, t: int | None) -> None:
        self.bytes += file.close(t)
        self.lines_closed += file.n

    def _end(self) -> Written:
        if self.victim not in self.brokers:
            self._revive()
        self.t += SECOND
        for file in [*self.drivers, *self.brokers.values(), self.controller]:
            self._closed(file, self.t)
        return Written(self.lines_closed, self.bytes, self.publications, self.lost, self.lost_in_fault, self.doubled)


def write(folder: Path, lines: int, seed: int = 1) -> Written:
    """A run directory with about so many lines."""
    return Traffic(folder, lines, seed).write()
