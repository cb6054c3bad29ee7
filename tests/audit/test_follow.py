"""A run followed while it is written says in the end what the audit says of the whole."""

from __future__ import annotations

import json
import shutil
import signal
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from random import Random

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from controller.campaigns import model, run
from controller.cli import run as brokerlab
from controller.commands import followed
from controller.follow import Live, State, follow
from controller.follow.source import LogReader, Piece, followed_lines, whole_lines_end
from controller.progress import Silent
from tests.audit.judged import Judged
from tests.audit.logs import MS, RunLog

CUT = "{kind: cut, target: 'link:b2-b3', at_s: 0.5, for_s: 0.5}"
KILL = "{kind: kill, target: 'broker:b2', at_s: 1.2, for_s: 0.5}"
PIECES = 4
DRIVER, CONTROLLER = "driver1.1.jsonl", "controller.1.jsonl"
LOOK_S = 0.2


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A simulated run with a cut and a death, of which one required delivery is struck out."""
    overrides = {"faults": f"[{CUT}, {KILL}]", "phases": "{warm_s: 1, load_s: 3}"}
    (spec,) = model.runs(model.load("smoke", overrides))
    directory = tmp_path_factory.mktemp("follow") / "runs" / "whole"
    ran = run.carry_out(spec, run.cluster_spec(spec, "sim", (), (), directory, "whole"), Silent())
    assert ran.outcome == "complete", ran.why
    log = directory / "logs" / "driver1.1.jsonl"
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    rows.pop(max(index for index, row in enumerate(rows) if row["event"] == "deliver"))
    log.write_text("".join(json.dumps({**row, "n": n}) + "\n" for n, row in enumerate(rows, 1)))
    return directory


def growing(source: Path, target: Path, rng: Random) -> Iterator[None]:
    """Writes the run anew: a piece of the driver's log at a time, which always tells something new, and of the others.

    Without regard to lines, and some files begin late; the controller's end comes last.
    """
    (target / "logs").mkdir(parents=True)
    for name in ("run.json", "topology.json"):
        shutil.copy(source / name, target)
    rest = {path.name: path.read_bytes() for path in sorted((source / "logs").glob("*.jsonl"))}

    def write(name: str, size: int) -> None:
        with (target / "logs" / name).open("ab") as log:
            log.write(rest[name][:size])
        rest[name] = rest[name][size:]

    piece = len(rest[DRIVER]) // PIECES
    for _ in range(PIECES):
        write(DRIVER, piece)
        for name in rng.sample(sorted({*rest} - {DRIVER, CONTROLLER}), 2):
            write(name, rng.randint(1, 30_000))
        yield
    for name in (*({*rest} - {CONTROLLER}), CONTROLLER):
        write(name, len(rest[name]))


def test_the_final_state_is_the_audits(spark: SparkSession, whole: Path, tmp_path: Path) -> None:
    target = tmp_path / "runs" / "growing"
    writer = growing(whole, target, Random(3))
    next(writer)
    seen: list[State] = []

    def look(state: State) -> None:
        if seen and state != seen[-1]:
            next(writer, None)
        seen.append(state)

    live = follow(target, look, look_s=LOOK_S)
    final = live.state()
    assert [one.published for one in seen] == sorted(one.published for one in seen)
    assert any(0 < one.delivered < final.delivered for one in seen)
    judged = Judged(target)
    compare(final, judged)
    assert judged.verdict.verdict == "fail" and final.missing == 1 and final.excused > 0


def test_ctrl_c_tells_the_state_so_far(
    spark: SparkSession,
    whole: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The controller's log has no end, so nothing else would end it."""
    target = tmp_path / "runs" / "endless"
    shutil.copytree(whole, target, ignore=shutil.ignore_patterns("config"))
    log = target / "logs" / "controller.1.jsonl"
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:-1]))
    told, asked = followed.told, []

    def tell(state: State) -> str:
        if state.delivered and not asked:
            asked.append(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
        return told(state)

    monkeypatch.setattr(followed, "told", tell)
    assert brokerlab(["audit", "--follow", str(target)]) == 130
    shown = capsys.readouterr()
    assert shown.out.startswith("followed: ") and "1 under way" in shown.out and "verdict" not in shown.out
    assert brokerlab(["audit", "--follow", str(target), str(whole)]) == 64


def compare(state: State, judged: Judged) -> None:
    missing = next(check for check in judged.verdict.checks if check.name == "missing")
    duplicate = next(check for check in judged.verdict.checks if check.name == "duplicate")
    assert (state.missing, state.excused) == (missing.violations, missing.excused)
    assert state.duplicates == duplicate.violations and state.waiting == 0
    counts = judged.verdict.counts
    assert (state.published, state.delivered) == (counts["publications"], counts["deliveries"])
    assert state.flight_ns == judged.verdict.flight_ns
    (delay,) = pq.read_table(judged.run / "audit" / "delay_total.parquet").to_pylist()
    assert state.delay_max_ns == delay["max_ns"]
    for name in ("delay_p50_ns", "delay_p99_ns"):
        assert getattr(state, name) == pytest.approx(delay[name.removeprefix("delay_")], rel=0.05, abs=MS)
    queues = pq.read_table(judged.run / "audit" / "queue.parquet").to_pylist()
    longest: dict[str, int] = {}
    for row in queues:
        if row["depth_max"] is not None:
            longest[row["node"]] = max(row["depth_max"], longest.get(row["node"], 0))
    assert state.queues == longest


def told_of(directory: Path) -> list[tuple[str, bytes]]:
    return [(path.name, line) for path in sorted((directory / "logs").glob("*.jsonl"))
            for line in path.read_bytes().splitlines(keepends=True)]  # fmt: skip


@pytest.mark.parametrize("seed", range(5))
def test_in_which_order_files_are_read_makes_no_difference(whole: Path, seed: int) -> None:
    rng = Random(seed)
    at_once, bit_by_bit = Live("self-healing"), Live("self-healing")
    lines = told_of(whole)
    at_once.take(lines)
    files = {name: [line for line in lines if line[0] == name] for name, _ in lines}
    while files:
        name = rng.choice(list(files))
        count = rng.randint(1, 200)
        bit_by_bit.take(files[name][:count])
        files[name] = files[name][count:]
        if not files[name]:
            del files[name]
    assert bit_by_bit.state() == at_once.state()


def test_what_is_late_missing_doubled_and_under_way(tmp_path: Path) -> None:
    built = RunLog(tmp_path)
    log = built.driver().subscribed("c2", "s1", "x > 0").at(100)
    for _ in range(5):
        log.publish("c1", {"x": 1})
    log.at(5_000).deliver("c2", "c1:1", ["s1"]).deliver("c2", "c1:2", ["s1"]).deliver("c2", "c1:2", ["s1"])
    log.at(7_000).publish("c1", {"x": 1})
    built.broker("b1").at(100).sample(9).sample(4)
    for one in built.logs.values():
        one.unclosed()
    live = Live("perfect")
    live.take(told_of(built.write()))
    state = live.state()
    assert (state.published, state.delivered, state.duplicates, state.late) == (6, 3, 1, 2)
    assert state.flight_ns == 4_900 * MS, "the longest rightful delay"
    assert (state.missing, state.waiting) == (3, 1), "who was published at 7 s may take as long as the slowest did"
    live.take([("d1.1.jsonl", json.dumps({"event": "attach", "client": "c9", "broker": "b1", "t": 20_000 * MS,
                                          "node": "d1", "inc": 1, "n": 99}).encode())])  # fmt: skip
    assert (live.state().missing, live.state().waiting) == (4, 0)
    assert (state.queues, state.queues_now) == ({"b1": 9}, {"b1": 4})


def test_half_a_line_waits_for_its_other_half(tmp_path: Path) -> None:
    log = tmp_path / "logs" / "d1.1.jsonl"
    log.parent.mkdir()
    reader = LogReader(tmp_path)
    assert reader.latestOffset() == {}
    log.write_bytes(b'{"event":"open"}\n{"event":"att')
    assert reader.latestOffset() == {"d1.1.jsonl": 17}
    with log.open("ab") as more:
        more.write(b'ach"}\n')
    (log.parent / "d1.2.jsonl").write_bytes(b'{"event":"handle"}\n')
    end = reader.latestOffset()
    assert end == {"d1.1.jsonl": 36, "d1.2.jsonl": 19}
    pieces = reader.partitions({"d1.1.jsonl": 17}, end)
    lines = [line for piece in pieces for batch in reader.read(piece) for line in batch["line"].to_pylist()]
    assert lines == [b'{"event":"attach"}\n'], "what brokers say of messages is not followed"


def test_a_long_log_is_caught_up_with_piece_by_piece(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("controller.follow.source.AT_ONCE_BYTES", 100)
    log = tmp_path / "d1.1.jsonl"
    log.write_bytes(b"".join(b'{"event":"attach","x":"%d"}\n' % n for n in range(50)) + b"[" * 500 + b"\n" + b"{}")
    places = [0]
    while (end := whole_lines_end(log, places[-1])) > places[-1]:
        places.append(end)
    assert places[-1] == log.stat().st_size - 2 and len(places) > 10
    pieces = [Piece(str(log), start, end) for start, end in pairwise(places)]
    lines = [line for piece in pieces for batch in followed_lines(piece) for line in batch["line"].to_pylist()]
    assert len(lines) == 50, "the long line is none, and was passed"
