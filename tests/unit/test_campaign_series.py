from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from controller.campaigns import board, series, workers
from controller.campaigns.series import Series
from controller.campaigns.workers import Ended, Heard, Job
from controller.errors import UsageError

TINY = """name: tiny
topology: mine.yaml
scheme: simple
workload: {kind: attributes, subscriptions: 6, rate_hz: 20, clients: 3}
phases: {warm_s: 0, load_s: 0.5}
matrix: {seed: {from: 1, to: 4}}
"""


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.yaml").write_text("description: mine\nbrokers: [b1, b2]\nlinks: [b1-b2]\n")
    (tmp_path / "tiny.yaml").write_text(TINY)
    return tmp_path


def begun() -> Series:
    made, _ = series.create("tiny.yaml", {"workload.rate_hz": "30"}, "sim", (), is_audited=False)
    series.write_new(made)
    return made


def test_a_series_remembers_what_its_file_said(tiny: Path) -> None:
    made = begun()
    (tiny / "tiny.yaml").unlink()
    again = series.read(made.directory)
    assert [(spec.seed, spec.workload.rate_hz) for spec in again.specs()] == [(n, 30) for n in (1, 2, 3, 4)]
    assert [one.label for one in again.runs] == ["seed=1", "seed=2", "seed=3", "seed=4"]


def test_a_series_whose_topology_changed_is_not_gone_on_with(tiny: Path) -> None:
    made = begun()
    (tiny / "mine.yaml").write_text("description: mine\nbrokers: [b1, b2, b3]\nlinks: [b1-b2, b2-b3]\n")
    with pytest.raises(UsageError, match=r"run 1 is not what it was .* start the campaign anew"):
        series.read(made.directory).specs()


def test_an_interrupted_run_waits_to_be_repeated_and_a_done_one_does_not(tiny: Path) -> None:
    made = begun()
    first, second, *_ = made.runs
    made.begin(first, "tiny-1", made.directory.parent / "tiny-x-1")
    made.begin(second, "tiny-2", made.directory.parent / "tiny-x-2")
    assert [one.state for one in series.read(made.directory).runs] == ["running", "running", "waiting", "waiting"]
    made.ended(first, "complete", "")
    made.ended(second, "interrupted", "")
    assert [one.state for one in series.read(made.directory).runs] == ["done", "waiting", "waiting", "waiting"]
    assert board.standing(made) == "1 of 4 runs done"


def test_directories_of_one_second_are_told_apart_before_they_exist(tiny: Path) -> None:
    made = begun()
    specs = made.specs()
    chosen = []
    for entry in made.runs[:2]:
        chosen.append(made.choose_directory(specs[0]))
        made.begin(entry, "tiny", chosen[-1])
    assert chosen[0] != chosen[1]


def test_only_an_unfinished_series_that_nobody_works_on_is_found(tiny: Path) -> None:
    with pytest.raises(UsageError, match="no unfinished series"):
        series.find_unfinished()
    made = begun()
    assert series.find_unfinished().directory == made.directory
    with made.locked(), pytest.raises(UsageError, match="no unfinished series"):
        series.find_unfinished()
    with made.locked(), pytest.raises(UsageError, match="still being worked on"), series.read(made.directory).locked():
        pass
    for entry in made.runs:
        made.begin(entry, "tiny", made.directory.parent / "tiny-x")
        made.ended(entry, "complete", "")
    with pytest.raises(UsageError, match="no unfinished series"):
        series.find_unfinished()


def jobs(made: Series) -> Iterator[Job]:
    for entry, spec in zip(made.runs, made.specs(), strict=True):
        directory = made.choose_directory(spec)
        made.begin(entry, "tiny", directory)
        yield Job(entry.number, spec, "sim", ("again",), (), directory, "tiny")


def logs(made: Series) -> list[dict[str, bytes]]:
    found = [made.run_directory(entry) / "logs" for entry in made.runs]
    return [{path.name: path.read_bytes() for path in sorted(folder.iterdir())} for folder in found]


def test_a_run_is_the_same_to_the_byte_whoever_runs_beside_it(tiny: Path) -> None:
    ended: list[Ended] = []

    def told(heard: Heard | Ended) -> None:
        if isinstance(heard, Ended):
            ended.append(heard)

    alone, beside = begun(), begun()
    workers.carry_out(jobs(alone), 1, told)
    workers.carry_out(jobs(beside), 3, told)
    assert {one.outcome for one in ended} == {"complete"}
    assert logs(alone) == logs(beside)
    assert len({tuple(one.items()) for one in logs(alone)}) == 4, "every seed has its own"


def test_a_worker_that_dies_makes_its_own_run_unknown(tiny: Path) -> None:
    made = begun()
    ended: dict[int, Ended] = {}
    killed: list[int] = []

    def told(heard: Heard | Ended) -> None:
        if isinstance(heard, Ended):
            ended[heard.number] = heard
        elif heard.number == 2 and not killed:
            (process,) = [one for one in multiprocessing.active_children() if one.name == "run-2"]
            assert process.pid is not None
            killed.append(process.pid)
            os.kill(process.pid, signal.SIGKILL)

    workers.carry_out(jobs(made), 2, told)
    assert {number: one.outcome for number, one in ended.items()} == {
        1: "complete",
        2: "unknown",
        3: "complete",
        4: "complete",
    }
    assert ended[2].why == "the process of this run ended with signal SIGKILL"


def test_an_interrupt_leaves_no_worker(tiny: Path) -> None:
    made = begun()

    def told(heard: Heard | Ended) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        workers.carry_out(jobs(made), 2, told)
    assert multiprocessing.active_children() == []
