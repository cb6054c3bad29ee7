"""The Spark oracle against its naive twin, on many generated logs that share one run, and filters in one job."""

from __future__ import annotations

import json
import operator
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from controller.audit import oracle
from controller.audit.load import LogFile, read, write_share
from controller.audit.matching import matches
from controller.audit.promise import Span
from controller.audit.session import tune
from controller.judge import reading
from controller.judge.reading import Condition
from controller.judge.twin import Twin
from tests.audit.judged import Judged
from tests.audit.logs import MS, Log, RunLog

Value = str | int | float | bool

COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "prefix": str.startswith, "suffix": str.endswith, "contains": operator.contains,
}  # fmt: skip
NUMBERS: list[Value] = [
    0,
    -0.0,
    1,
    1.0,
    1.5,
    -3,
    2**53,
    2**53 + 1,
    float(2**53),
    2**63 - 1,
    float(2**63),
    -(2**63),
    1e300,
]
STRINGS: list[Value] = ["", "a", "ab", "b", "é", "\uffff", "😀", "1", "true", "or"]
VALUES: list[Value] = [*NUMBERS, *STRINGS, True, False]
NAMES = ["x", "y", "exists"]


def kind(value: Value) -> str:
    return "bool" if isinstance(value, bool) else "text" if isinstance(value, str) else "number"


def holds(constraint: tuple[str, str, Value | None], content: dict[str, Value]) -> bool:
    name, op, wanted = constraint
    if name not in content:
        return False
    if wanted is None:
        return True
    return kind(content[name]) == kind(wanted) and COMPARE[op](content[name], wanted)


def any_constraint(rng: Random) -> tuple[str, str, Value | None]:
    name, value = rng.choice(NAMES), rng.choice(VALUES)
    ops = {"bool": ["=", "!="], "number": ["=", "!=", "<", "<=", ">", ">="], "text": list(COMPARE)}[kind(value)]
    return (name, "exists", None) if rng.random() < 0.1 else (name, rng.choice(ops), value)


def written(disjuncts: list[list[tuple[str, str, Value | None]]]) -> str:
    if disjuncts == [[]]:
        return "*"
    return " or ".join(
        " and ".join(f"{n} {op}" + ("" if v is None else f" {json.dumps(v)}") for n, op, v in disjunct)
        for disjunct in disjuncts
    )


def test_matching(spark: SparkSession, tmp_path: Path) -> None:
    tune(spark, 0)
    rng = Random(4)
    filters = [[[any_constraint(rng) for _ in range(rng.randint(1, 3))] for _ in range(rng.randint(1, 3))]
               for _ in range(300)] + [[[any_constraint(rng)]] for _ in range(300)] + [[[]]]  # fmt: skip
    contents = [{name: rng.choice(VALUES) for name in rng.sample(NAMES, rng.randint(0, 3))} for _ in range(120)]
    log = Log("d1", 1, "driver", 0)
    for number, disjuncts in enumerate(filters):
        log.subscribe("c", f"s{number}", written(disjuncts))
    for content in contents:
        log.publish("p", content)
    log.publish("p", "<a/>", lang="xpath")
    rows = scanned(spark, log, tmp_path)
    known, published = oracle.filters(rows), oracle.publications(rows)
    assert known.where("unreadable is not null").count() == 0
    matched = matches(oracle.ever(known), oracle.contents(published))
    pairs = matched.join(known, "f").join(published, "k").select("filter", "msg").toArrow().to_pylist()
    found = {(pair["filter"], pair["msg"]) for pair in pairs}
    assert len(found) == len(pairs)
    expected = {
        (written(disjuncts), f"p:{number}")
        for disjuncts in filters
        for number, content in enumerate(contents, start=1)
        if any(all(holds(constraint, content) for constraint in disjunct) for disjunct in disjuncts)
    }
    assert found == expected and len(expected) > 5000


def scanned(spark: SparkSession, log: Log, folder: Path) -> DataFrame:
    path = folder / "d1.1.jsonl"
    path.write_bytes(log.text())
    write_share([LogFile(str(path), "d1", 1, 0)], 0, folder / "tables")
    return read(spark, folder / "tables")


class Play:
    """One generated case: two drivers whose clients do what comes to their mind, honestly logged."""

    def __init__(self, name: str, rng: Random, run: RunLog, conditions: dict[str, Condition]) -> None:
        self.name, self.rng, self.conditions = name, rng, conditions
        self.lang = rng.choice(["attr", "xpath"])
        self.logs = {which: run.driver(f"{name}-{which}") for which in "ab"}
        self.asked: dict[str, list[str]] = {"a": [], "b": []}
        self.state: dict[str, str] = {}

    def go(self) -> None:
        for which, log in self.logs.items():
            now_ms = 1.0
            for _ in range(self.rng.randint(8, 24)):
                now_ms += self.rng.choice([0, 0, 1, 1, 2, 700, 1999, 2001])
                log.at(now_ms)
                self.rng.choice([self.subscribe, self.answer, self.answer, self.publish, self.deliver, self.deliver,
                                 self.deliver, self.detach])(which, log)  # fmt: skip

    def client(self, which: str) -> str:
        return f"{self.name}.{which}{self.rng.randint(1, 2)}"

    def subscribe(self, which: str, log: Log) -> None:
        sub = f"{self.name}.{which}.s{len(self.asked[which])}"
        text, condition = self.pattern() if self.lang == "xpath" else self.attributes()
        self.conditions[text] = condition
        log.subscribe(self.client(which), sub, text, lang=self.lang)
        self.asked[which].append(sub)
        self.state[sub] = "established"

    def attributes(self) -> tuple[str, Condition]:
        op, value, name = self.rng.choice(["<", ">=", "=", "!="]), self.rng.randint(0, 3), self.name
        text = f'case = "{name}" and x {op} {value}'
        return text, lambda told: isinstance(told, dict) and told.get("case") == name and COMPARE[op](told["x"], value)

    def pattern(self) -> tuple[str, Condition]:
        value, begin = self.rng.randint(0, 3), f"<{self.name}>"
        text, sign = self.rng.choice(
            [
                (f'/{self.name}/x[@v="{value}"]', f'v="{value}"'),
                (f'/{self.name}[.//x[.="{value}"]]', f">{value}<"),
                (f"/{self.name}//*[@v]", "v="),
                (f"/{self.name}[x/y]", "<y>"),
            ]
        )
        return text, lambda told: isinstance(told, str) and told.startswith(begin) and sign in told

    def answer(self, which: str, log: Log) -> None:
        """The next thing that can happen to one of the subscriptions."""
        open_ones = [sub for sub in self.asked[which] if self.state[sub] != "over"]
        if not open_ones:
            self.subscribe(which, log)
            return
        sub = self.rng.choice(open_ones)
        if self.state[sub] == "established":
            since = {f"{self.name}.{self.rng.choice('ab')}1": self.rng.randint(1, 3)}
            log.established(sub, **({"since": since} if self.rng.random() < 0.2 else {}))
            self.state[sub] = "unsubscribe"
        elif self.state[sub] == "unsubscribe":
            log.unsubscribe(sub)
            self.state[sub] = "unsubscribed"
        else:
            log.unsubscribed(sub)
            self.state[sub] = "over"

    def publish(self, which: str, log: Log) -> None:
        client, value = self.client(which), self.rng.randint(0, 3)
        if self.lang == "attr":
            log.publish(client, {"case": self.name, "x": value})
        else:
            inside = self.rng.choice([f'<x v="{value}"/>', f"<x>{value}</x>", f"<x><y>{value}</y></x>"])
            log.publish(client, f"<{self.name}>{inside}</{self.name}>", lang="xpath")

    def deliver(self, which: str, log: Log) -> None:
        msg = f"{self.name}.{self.rng.choice('ab')}{self.rng.randint(1, 2)}:{self.rng.randint(1, 3)}"
        known = self.asked[which]
        log.deliver(self.client(which), msg, self.rng.sample(known, self.rng.randint(0, min(2, len(known)))))

    def detach(self, which: str, log: Log) -> None:
        if self.rng.random() < 0.3:
            log.detach(self.client(which))


def test_judging(spark: SparkSession, tmp_path: Path) -> None:
    rng = Random(9)
    run = RunLog(tmp_path, promise="self-healing")
    conditions: dict[str, Condition] = {}
    for number in range(60):
        Play(f"g{number}", rng, run, conditions).go()
    run.controller.at(6000).fault("apply", "k1").at(6500).fault("heal", "k1").at(7000).phase("quiet")
    run.broker("b1").unclosed()
    run.write()
    # Filters are not parsed but known as functions, so that the twin shares no reading of them with the audit.
    lines = reading.records(run.path(*key).read_bytes() for key in run.logs)
    twin = Twin(lines, [Span("k1", 6000 * MS, 7000 * MS)], lambda text, lang: conditions[text])
    expected = sorted((one.check, one.client, one.msg, one.t, one.excused) for one in twin.violations())
    judged = Judged(tmp_path)
    checks = {"missing", "spurious", "unsubscribed", "subs", "duplicate", "order"}
    found = sorted((row["check"], row["client"], row["msg"], row["t"], row["excused"])
                   for row in judged.rows if row["check"] in checks)  # fmt: skip
    assert judged.verdict.flight_ns == twin.flight_ns
    assert {check for check, *_ in expected} == checks and any(excused for *_, excused in expected)
    assert found == expected
