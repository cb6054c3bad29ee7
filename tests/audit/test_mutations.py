"""Whatever is done to the logs of a real run, the audit notices, says where, and never takes it for a pass."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyspark.sql import SparkSession

from controller.audit.facts import RunFacts
from controller.campaigns import model, run
from controller.cli import run as brokerlab
from controller.progress import Silent
from tests.audit.judged import Judged
from tests.audit.mutations import MUTATIONS, Damaged
from tests.audit.test_facts import facts

Row = dict[str, Any]
SEEDS = range(1)
FILES = ("driver1.1", "b2.1", "controller.1")


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real, small, simulated run in which nothing is broken."""
    overrides = {"faults": "[]", "phases": "{warm_s: 1, load_s: 3}", "seed": "4",
                 "workload": "{kind: attributes, subscriptions: 12, rate_hz: 12, churn_hz: 6, clients: 6, "
                             "selectivity: 0.3}"}  # fmt: skip
    (spec,) = model.runs(model.load("smoke", overrides))
    directory = tmp_path_factory.mktemp("mutations") / "runs" / "sound"
    ran = run.carry_out(spec, run.cluster_spec(spec, "sim", (), (), directory, "sound"), Silent())
    assert ran.outcome == "complete", ran.why
    return directory


def lines_of(directory: Path, file: str) -> list[bytes]:
    return (directory / "logs" / f"{file}.jsonl").read_bytes().splitlines(keepends=True)


def copied(source: Path, target: Path) -> Path:
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("config", "tables", "audit"))
    return target


@pytest.mark.parametrize("name", MUTATIONS)
def test_damage_to_a_file_is_found_where_it_stands(sound: Path, tmp_path: Path, name: str) -> None:
    """In the log of a driver, a broker and the controller; what follows from it is the subject of test_faults."""
    for file in FILES:
        for seed in SEEDS:
            directory = copied(sound, tmp_path / f"{file}-{seed}")
            damaged = MUTATIONS[name](lines_of(directory, file), Random(f"{name}/{file}/{seed}"))
            (directory / "logs" / f"{file}.jsonl").write_bytes(damaged.data)
            found = facts(directory)
            assert (file, damaged.line) in {(one.file, one.line) for one in found.damage}, (file, seed, found.damage)
            assert found.damaged_nodes == [file.split(".")[0]]
            assert all(one.what.isprintable() and len(one.what) < 1000 for one in found.damage)


def without_controllers_log(directory: Path) -> str:
    (directory / "logs" / "controller.1.jsonl").unlink()
    return "controller.1"


def two_files_of_one_incarnation(directory: Path) -> str:
    shutil.copy(directory / "logs" / "b2.1.jsonl", directory / "logs" / "b2.2.jsonl")
    return "b2.2"


def a_file_with_another_name(directory: Path) -> str:
    (directory / "logs" / "b2.1.jsonl").rename(directory / "logs" / "b2.01.jsonl")
    return "logs/b2.01.jsonl"


def without(name: str) -> Callable[[Path], str]:
    def break_it(directory: Path) -> str:
        (directory / name).unlink()
        return name

    return break_it


def written_over(name: str, text: bytes) -> Callable[[Path], str]:
    def break_it(directory: Path) -> str:
        (directory / name).write_bytes(text)
        return name

    return break_it


AROUND: dict[str, Callable[[Path], str]] = {
    "no controller's log": without_controllers_log,
    "two files of one incarnation": two_files_of_one_incarnation,
    "a file with another name": a_file_with_another_name,
    "no run.json": without("run.json"),
    "no topology.json": without("topology.json"),
    "run.json is broken": written_over("run.json", b'{"promise": '),
    "run.json is a list": written_over("run.json", b"[]"),
    "run.json is no text": written_over("run.json", b"\xff\xfe\x00"),
    "run.json is nested without end": written_over("run.json", b'{"a":' * 100_000),
    "topology.json is broken": written_over("topology.json", b'{"brokers": [}'),
    "topology.json is empty": written_over("topology.json", b""),
    "topology.json is about something else": written_over("topology.json", b'{"brokers": [5], "links": "none"}'),
}


@pytest.mark.parametrize("name", AROUND)
def test_what_is_missing_or_broken_around_the_logs_is_named(sound: Path, tmp_path: Path, name: str) -> None:
    directory = copied(sound, tmp_path / "broken")
    place = AROUND[name](directory)
    found: RunFacts = facts(directory)
    assert place in {one.file for one in found.damage}, found.damage


class Copy:
    """One of many copies of a sound run that share a directory: everything in it bears its name."""

    def __init__(self, name: str, sound: Path) -> None:
        self.name = name
        self.logs = {file: [self._renamed(json.loads(line)) for line in lines_of(sound, file)]
                     for file in ("driver1.1", "b1.1", "b2.1", "b3.1")}  # fmt: skip

    def _renamed(self, row: Row) -> Row:
        """Contents too, so that no copy's filters match another one's messages."""
        for key in ("node", "client", "broker", "sub", "adv", "msg", "publisher", "from", "to", "peer"):
            if row.get(key):
                row[key] = f"{self.name}-{row[key]}"
        if row.get("subs"):
            row["subs"] = [f"{self.name}-{sub}" for sub in row["subs"]]
        if "content" in row:
            row["content"] = {**row["content"], "copy": self.name}
        if "filter" in row:
            row["filter"] = " or ".join(f'copy = "{self.name}" and {part}' for part in row["filter"].split(" or "))
        return row

    def of(self, event: str) -> list[Row]:
        return [row for row in self.logs["driver1.1"] if row["event"] == event]

    def handled(self, broker: str, kind: str = "publication") -> list[Row]:
        return [row for row in self.logs[f"{broker}.1"] if row["event"] == "handle" and row["kind"] == kind]

    def write(self, logs: Path) -> None:
        """Numbered anew: nothing tells that somebody was here but what is said."""
        for file, rows in self.logs.items():
            lines = [json.dumps({**row, "n": number}) + "\n" for number, row in enumerate(rows, 1)]
            (logs / f"{self.name}-{file}.jsonl").write_text("".join(lines))


Forgery = Callable[[Copy, Random], set[tuple[str, str]]]
FORGERIES: dict[str, Forgery] = {}


def forgery(function: Forgery) -> Forgery:
    """Returns (check, verdict) of all that must be said about the copy."""
    FORGERIES[function.__name__.replace("_", "-")] = function
    return function


def final(copy: Copy, rng: Random) -> Row:
    """A delivery of the final publications, when nothing changes any more: it was required."""
    delivered = copy.of("deliver")
    final_t = copy.of("publish")[-1]["t"] - 10**9
    return rng.choice([row for row in delivered if row["t"] > final_t])


@forgery
def untouched(copy: Copy, rng: Random) -> set[tuple[str, str]]:
    return set()


@forgery
def dropped(copy: Copy, rng: Random) -> set[tuple[str, str]]:
    copy.logs["driver1.1"].remove(final(copy, rng))
    return {("missing", "fail")}


@forgery
def doubled(copy: Copy, rng: Random) -> set[tuple[str, str]]:
    rows = copy.logs["driver1.1"]
    row = final(copy, rng)
    rows.insert(rows.index(row) + 1, dict(row))
    return {("duplicate", "fail")}


@forgery
def forged(copy: Copy, rng: Random) -> set[tuple[str, str]]:
    rows = copy.logs["driver1.1"]
    row = final(copy, rng)
    rows.insert(rows.index(row) + 1, {**row, "seq": 999, "msg": f"{row['publisher']}:999"})
    return {("spurious", "fail")}


@forgery
def under_another_number(copy: Copy, rng: Random) -> set[tuple[str, str]]:
    final(copy, rng)["seq"] += 100
    return {("spurious", "fail")}


@forgery
def to_the_wrong_client(copy: Copy, rng: Random) -> set[tuple[str, str]]:
    row = final(copy, rng)
    row["client"] = f"{copy.name}-nobody"
    return {("spurious", "fail"), ("missing", "fail")}


@forgery
def for_no_subscription(copy: Copy, rng: Random) -> set[tuple[str, str]]:
    final(copy, rng)["subs"] = []
    return {("subs", "fail")}


@forgery
def reordered(copy: Copy, rng: Random) -> set[tuple[str, str]]:
    rows = copy.logs["driver1.1"]
    delivered = copy.of("deliver")
    pairs = [(x, y) for x in delivered for y in delivered
             if (x["client"], x["publisher"]) == (y["client"], y["publisher"]) and x["seq"] < y["seq"]]  # fmt: skip
    first, second = rng.choice(pairs)
    i, j = rows.index(first), rows.index(second)
    rows[i], rows[j] = {**second, "t": first["t"]}, {**first, "t": second["t"]}
    return {("order", "fail")}


@forgery
def published_twice(copy: Copy, rng: Random) -> set[tuple[str, str]]:
    rows = copy.logs["driver1.1"]
    row = copy.of("publish")[-1]
    rows.insert(rows.index(row) + 1, dict(row))
    return {("integrity", "unknown")}


@forgery
def confirmed_unasked(copy: Copy, rng: Random) -> set[tuple[str, str]]:
    rows = copy.logs["driver1.1"]
    row = copy.of("established")[-1]
    asked = next(one for one in copy.of("subscribe") if one["sub"] == row["sub"])
    rows.remove(asked)
    return {("integrity", "unknown")}


@forgery
def late(copy: Copy, rng: Random) -> set[tuple[str, str]]:
    """After the confirmation that nothing would come any more."""
    rows = copy.logs["driver1.1"]
    over = {row["sub"]: row for row in copy.of("unsubscribed")}
    got = [row for row in copy.of("deliver") if len(row["subs"]) == 1 and row["subs"][0] in over]
    row = rng.choice(got)
    rows.remove(row)
    rows.append({**row, "t": rows[-1]["t"]})
    rows.append(rows.pop(-2))
    return {("unsubscribed", "fail")}


@forgery
def never_handled(copy: Copy, rng: Random) -> set[tuple[str, str]]:
    rows = copy.logs["b2.1"]
    from_b1 = [row for row in copy.handled("b2") if row["from"].endswith("-b1")]
    rows.remove(rng.choice(from_b1))
    return {("links", "fail")}


@forgery
def handled_twice(copy: Copy, rng: Random) -> set[tuple[str, str]]:
    rows = copy.logs["b2.1"]
    row = rng.choice(copy.handled("b2"))
    rows.insert(rows.index(row) + 1, dict(row))
    return (
        {("loops", "fail"), ("links", "fail")} if not row["from"].split("-")[1].startswith("c") else {("loops", "fail")}
    )


ALSO = {
    # What comes after a number that is too high comes too late, if anything does.
    "under-another-number": {("order", "fail")},
    # Some of what was moved may have come before it was published.
    "reordered": {("integrity", "unknown"), ("spurious", "fail"), ("subs", "fail")},
    "late": {("order", "fail")},
}


@pytest.fixture(scope="module")
def tampered(spark: SparkSession, sound: Path) -> tuple[Judged, dict[str, set[tuple[str, str]]]]:
    """All forgeries in one directory, each in a copy of its own, judged at once."""
    directory = sound.parent / "tampered"
    (directory / "logs").mkdir(parents=True)
    shutil.copy(sound / "logs" / "controller.1.jsonl", directory / "logs")
    told, topology = (json.loads((sound / name).read_bytes()) for name in ("run.json", "topology.json"))
    expected = {}
    brokers, links = [], []
    for name, forge in FORGERIES.items():
        copy = Copy(name.replace("-", ""), sound)
        expected[copy.name] = forge(copy, Random(name))
        copy.write(directory / "logs")
        brokers += [{**one, "name": f"{copy.name}-{one['name']}"} for one in topology["brokers"]]
        links += [{**one, "a": f"{copy.name}-{one['a']}", "b": f"{copy.name}-{one['b']}"} for one in topology["links"]]
    told["drivers"] = [f"{name}-driver1" for name in expected]
    (directory / "run.json").write_text(json.dumps(told))
    (directory / "topology.json").write_text(json.dumps({"brokers": brokers, "links": links}))
    return Judged(directory), expected


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forgery_is_convicted(name: str, tampered: tuple[Judged, dict[str, set[tuple[str, str]]]]) -> None:
    judged, expected = tampered
    case = name.replace("-", "")
    found = {(row["check"], row["verdict"]) for row in judged.rows if f"{case}-" in str(row["detail"])}
    missed = expected[case] - found
    assert not missed, judged.verdict.reasons
    assert found <= expected[case] | ALSO.get(name, set())


def test_damaged_files_make_a_run_unknown_and_never_a_traceback(
    spark: SparkSession, sound: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """All at once: whatever is left of the files says nothing, and nothing of it is called a failure."""
    directory = copied(sound, tmp_path / "runs" / "damaged")
    for file, name in (("driver1.1", "garbage"), ("b1.1", "a_line_nested_without_end"), ("b2.1", "nul_bytes"),
                       ("b3.1", "truncated_within_a_line"), ("controller.1", "a_hole")):  # fmt: skip
        damaged: Damaged = MUTATIONS[name](lines_of(directory, file), Random(name))
        (directory / "logs" / f"{file}.jsonl").write_bytes(damaged.data)
    assert brokerlab(["audit", str(directory)]) == 2
    told = capsys.readouterr()
    assert "verdict: unknown" in told.out and "Traceback" not in told.out + told.err
    assert "fail" not in told.out
