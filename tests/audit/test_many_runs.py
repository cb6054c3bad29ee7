"""`brokerlab audit` of several runs: one session, and a directory without logs does not stop the others."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from controller.cli import run as brokerlab
from tests.audit.logs import RunLog


def passing(folder: Path) -> Path:
    run = RunLog(folder)
    run.driver().subscribed("c2", "s1", "x > 1").publish("c1", {"x": 2}).deliver("c2", "c1:1", ["s1"])
    return run.write()


def test_a_directory_without_logs_is_told_and_left_out(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    runs = [str(tmp_path / "empty"), str(passing(tmp_path / "one"))]
    assert brokerlab(["audit", *runs]) == 2
    told = capsys.readouterr()
    assert "not judged:" in told.err and "empty has no logs" in told.err
    assert told.out.count("verdict: ") == 1 and "verdict: fail" not in told.out


def test_nothing_but_directories_without_logs_is_wrong_use(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    assert brokerlab(["audit", str(tmp_path / "a"), str(tmp_path / "b")]) == 64
    assert "has no logs" in capsys.readouterr().err
