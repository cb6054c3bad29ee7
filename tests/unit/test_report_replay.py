"""What the slider replays: bounded, and never dark between the audit's own buckets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from controller.audit.report import write_report
from controller.audit.report.reading import read_run
from controller.audit.report.replay import BINS_MAX, CELLS_MAX, replay
from controller.audit.report.samples import samples
from tests.unit import report_runs as runs


def load(run: Path, every_s: int = 1, pairs: int = 1) -> None:
    rows: dict[str, list[Any]] = {name: [] for name in ("a", "b", "t", "publications", "control")}
    for _ in range(pairs):
        for second in range(0, 64, every_s):
            for name, value in zip(rows, ("root", "north", runs.START_T + second * runs.S, second, 1), strict=True):
                rows[name].append(value)
    runs.write_table(run, "link_load", rows)


def made(run: Path) -> dict[str, Any]:
    found = replay(read_run(run, 0))
    assert found is not None
    return found


def test_every_bucket_of_the_audit_is_a_moment(tmp_path: Path) -> None:
    load(runs.passing(tmp_path))
    found = made(tmp_path)
    assert found["bins"] == 64
    assert found["links"] == [["root", "north", [second + 1 for second in range(64)]]]


def test_rows_of_one_bucket_are_added(tmp_path: Path) -> None:
    load(runs.passing(tmp_path), pairs=3)
    assert sum(made(tmp_path)["links"][0][2]) == 3 * sum(range(1, 65))


def test_faults_and_phases_have_their_place(tmp_path: Path) -> None:
    found = made(runs.passing(tmp_path))
    assert [(fault["target"], fault["from"], fault["to"]) for fault in found["faults"]][1] == (
        "link:root-south", round(18 / 64, 5), round(23 / 64, 5),
    )  # fmt: skip
    assert found["phases"][1]["name"] == "load"


def test_a_thousand_brokers_stay_within_bounds(tmp_path: Path) -> None:
    found = made(runs.large(tmp_path, runs.transit_stub(900)))
    rows = len(found["links"]) + len(found["queues"])
    assert found["bins"] <= BINS_MAX
    assert found["bins"] * rows <= max(CELLS_MAX, 20 * rows)


def test_without_a_topology_or_a_span_there_is_nothing_to_replay(tmp_path: Path) -> None:
    assert replay(read_run(runs.minimal(tmp_path), 0)) is None


def message_tables(run: Path, messages: int, logged: str = "handle forward") -> None:
    """What the audit typed of so many messages that went from south1 by way of south to root."""
    events: dict[str, list[dict[str, Any]]] = {"publish": [], "handle": [], "forward": []}
    for number in range(messages):
        msg, t = f"p1:{number}", runs.START_T + number * runs.MS
        events["publish"].append({"msg": msg, "t": t, "client": "p1"})
        for hop, (node, to) in enumerate((("south1", "south"), ("south", "root"))):
            step = {"msg": msg, "node": node, "kind": "publication", "n": hop + 1}
            events["handle"].append({**step, "t": t + 2 * hop, "from": "p1" if hop == 0 else "south1", "to": None})
            events["forward"].append({**step, "t": t + 2 * hop + 1, "from": None, "to": to})
    for event, rows in events.items():
        if event == "publish" or event in logged:
            folder = run / "tables" / f"event={event}"
            folder.mkdir(parents=True)
            pq.write_table(pa.Table.from_pylist(rows), folder / "part-0.parquet")


def test_a_run_without_violations_has_ways_to_follow_too(tmp_path: Path) -> None:
    message_tables(runs.passing(tmp_path), 1000)
    found = samples(tmp_path)
    assert [one.msg for one in found] == [f"p1:{62 + 125 * place}" for place in range(8)]
    assert [(hop.node, hop.event, hop.from_ or hop.to) for hop in found[3].path] == [
        ("south1", "handle", "p1"), ("south1", "forward", "south"),
        ("south", "handle", "south1"), ("south", "forward", "root"),
    ]  # fmt: skip
    page = write_report(tmp_path).read_text()
    assert "The ways of 8 messages, picked evenly from the run" in page


@pytest.mark.parametrize("messages", [0, 1, 3, 9])
def test_fewer_messages_than_samples_are_all_or_some_of_them(tmp_path: Path, messages: int) -> None:
    message_tables(runs.passing(tmp_path), messages)
    assert len({one.msg for one in samples(tmp_path)}) == min(messages, 8)


def test_where_the_brokers_tell_nothing_of_messages_there_are_no_samples(tmp_path: Path) -> None:
    message_tables(runs.passing(tmp_path), 5, logged="")
    assert samples(tmp_path) == ()
    assert "picked evenly" not in write_report(tmp_path).read_text()
    assert samples(tmp_path / "elsewhere") == ()
