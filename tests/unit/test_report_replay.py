"""What the slider replays: bounded, and never dark between the audit's own buckets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from controller.audit.report.reading import read_run
from controller.audit.report.replay import BINS_MAX, CELLS_MAX, replay
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
