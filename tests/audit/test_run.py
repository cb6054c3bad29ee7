"""Whole runs: what is written, what makes a run say nothing, and how the audit ends when it cannot begin."""

from __future__ import annotations

import json
import os
import shutil
import stat
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import controller.audit
from controller.audit import audit, findings
from controller.audit.checks import advertised
from controller.audit.findings import Check
from controller.audit.session import tune
from controller.errors import EnvironmentProblem, UsageError
from tests.audit.judged import Judged
from tests.audit.logs import MS, RunLog

session_module = sys.modules["controller.audit.session"]


def sound(folder: Path) -> RunLog:
    run = RunLog(folder, start_ms=1000)
    run.link("b1", "b2", rate_kbps=64)
    log = run.driver().attach("c1").attach("c2", "b2").subscribed("c2", "s1", "x > 1", "b2")
    log.at(1100).publish("c1", {"x": 2}, early_ms=50).at(1120).deliver("c2", "c1:1", ["s1"], broker="b2")
    log.at(1200).publish("c1", {"x": 1}).at(9000).publish("c1", {"x": 3})
    log.at(9030).deliver("c2", "c1:3", ["s1"], broker="b2")
    b1 = (
        run.broker("b1").at(1010).control("handle", "b2", "subscribe", sub="s1").control("forward", "b2", "settled", 30)
    )
    b1.at(1101).handle("c1", "c1:1", wait_ms=3).forward("b2", "c1:1", length=70)
    b1.sample(5, table=4).sample(2, table=3, unacked=6)
    b1.at(1201).handle("c1", "c1:2").at(9001).handle("c1", "c1:3").forward("b2", "c1:3")
    b2 = run.broker("b2").at(1004).control("handle", "c2", "subscribe", sub="s1")
    b2.control("forward", "b1", "subscribe", sub="s1").at(1020).control("handle", "b1", "settled")
    b2.control("forward", "c2", "settled").at(1110).handle("b1", "c1:1").forward("c2", "c1:1")
    b2.at(9010).handle("b1", "c1:3").forward("c2", "c1:3")
    run.controller.at(1050).phase("load").at(9500).phase("load", "end")
    return run


def test_a_sound_run_passes_and_says_where_the_time_went(spark: SparkSession, tmp_path: Path) -> None:
    found = Judged(sound(tmp_path).write())
    assert (found.verdict.verdict, found.verdict.exit_status, found.verdict.reasons) == ("pass", 0, [])
    assert found.json["counts"] == {
        "publications": 3, "subscriptions": 1, "deliveries": 2, "pairs_required": 2, "pairs_permitted": 0,
        "lines": 36, "brokers": 2, "drivers": 1, "damaged_lines": 0}  # fmt: skip
    assert found.json["span"] == {"start_t": 1000 * MS, "end_t": 9501 * MS}
    assert found.json["phases"] == [{"name": "load", "start_t": 1050 * MS, "end_t": 9500 * MS}]
    assert found.json["flight_ns"] == 2000 * MS and found.rows == []
    folder = tmp_path / "audit"
    delays = pq.read_table(folder / "delay.parquet").to_pylist()
    assert [(row["t"] // MS, row["count"], row["max_ns"] // MS) for row in delays] == [(1100, 1, 70), (9000, 1, 30)]
    total = pq.read_table(folder / "delay_total.parquet").to_pylist()
    assert (total[0]["count"], total[0]["p99_ns"], total[0]["uncorrected_max_ns"]) == (2, 70 * MS, 30 * MS)
    queues = pq.read_table(folder / "queue.parquet").to_pylist()
    assert queues[1] == {"node": "b1", "t": 1100 * MS, "depth_max": 5, "table": 4, "unacked": 6,
                         "wait_p99_ns": 3 * MS, "work_ns": MS, "handled": 1, "arrived": 1, "forwarded": 1,
                         "backlog": 1}  # fmt: skip
    # c1:2 came at 1199 ms and was handled at 1201, c1:1 at 1097 and 1101.
    assert (queues[0]["t"], queues[0]["arrived"], queues[0]["backlog"]) == (1000 * MS, 2, 1)
    links = pq.read_table(folder / "links.parquet").to_pylist()
    assert links == [
        {"a": "b1", "b": "b2", "publications": 2, "control": 1, "bytes": 200, "utilisation_max": 0.125},
        {"a": "b2", "b": "b1", "publications": 0, "control": 1, "bytes": 50, "utilisation_max": 0.0625},
    ]


def test_a_dropped_delivery_is_named_with_the_way_it_took(spark: SparkSession, tmp_path: Path) -> None:
    run = sound(tmp_path)
    log = run.driver()
    log.lines = [line for line in log.lines if line.get("msg") != "c1:1" or line["event"] != "deliver"]
    found = Judged(run.write())
    assert found.verdict.verdict == "fail" and "c2 did not get c1:1" in found.verdict.reasons[0]
    path = [(step["node"], step["event"], step["from"] or step["to"]) for step in found.rows[0]["path"]]
    assert path == [("b1", "handle", "c1"), ("b1", "forward", "b2"), ("b2", "handle", "b1"), ("b2", "forward", "c2")]
    people = json.loads((tmp_path / "audit" / "violations.json").read_text())
    assert [row["msg"] for row in people] == ["c1:1"] and people[0]["check"] == "missing"


def test_flight_is_the_longest_rightful_delay_and_a_slow_run_still_judged(spark: SparkSession, tmp_path: Path) -> None:
    run = RunLog(tmp_path)
    log = run.driver().subscribed("c2", "s1", "x = 1").subscribed("c3", "s3", "x = 2")
    log.at(10).publish("c1", {"x": 1}).at(20).publish("c1", {"x": 2}).at(2510).unsubscribe("s3").unsubscribed("s3")
    log.at(3010).deliver("c2", "c1:1", ["s1"]).at(8000).deliver("c2", "c1:2", ["s1"])
    found = Judged(run.write())
    assert found.verdict.flight_ns == 3000 * MS, "the spurious delivery after 8 s does not count"
    assert found.check("missing") == "pass", "s3 was cancelled within flight"


def test_what_makes_a_run_say_nothing(spark: SparkSession, tmp_path: Path) -> None:
    run = RunLog(tmp_path)
    log = run.driver().subscribe("c2", "never-answered", "x = 1").subscribe("c2", "refused", "x =").refuse("refused")
    log.subscribe("c3", "left", "x = 1").detach("c3").subscribed("c5", "odd", "x ==")
    log.subscribed("c4", "xpath", "/a[", lang="xpath").subscribed("c4", "fine", "/a[b]", lang="xpath")
    log.subscribed("c6", "twice", "y = 1").subscribed("c6", "twice", "y = 1")
    log.publish("c1", {"x": 1}).publish("c1", {"x": 1}, seq=4, msg="c1:4")
    log.advertise("advertise", "c7", "a1", "x > 5").publish("c7", {"x": 1})
    found = Judged(run.write())
    assert (found.check("integrity"), found.check("confirmed"), found.check("advertised")) == ("unknown",) * 3
    assert found.verdict.verdict == "unknown" and found.verdict.exit_status == 2
    told = {(row["check"], row["sub"] or row["msg"] or row["client"]) for row in found.rows}
    assert told == {("confirmed", "never-answered"), ("confirmed", "xpath"), ("confirmed", "odd"), ("confirmed", None),
                    ("integrity", "twice"), ("integrity", "c1"), ("advertised", "c7:1"), ("settled", "a1")}  # fmt: skip


def test_more_violations_than_can_be_listed_are_counted(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    tune(spark, 0)
    monkeypatch.setattr(findings, "LISTED_MAX", 2)
    columns = (
        "verdict string, client string, msg string, sub string, t long, fault string, excused boolean, detail string"
    )
    sorts = [("fail", True, "k1"), ("fail", False, None), ("unknown", False, None), ("fail", False, None)]
    rows = [(verdict, "c", f"p:{t}", "s", t, fault, excused, "") for t, (verdict, excused, fault) in enumerate(sorts)]
    found = findings.collect(spark.createDataFrame(rows, columns))
    assert found.counts == {("fail", "k1", True): 1, ("fail", None, False): 2, ("unknown", None, False): 1}
    assert [violation.msg for violation in found.listed] == ["p:1", "p:3"]
    assert (found.verdict, found.violations, found.excused) == ("fail", 3, 1)


def test_a_check_that_breaks_is_unknown(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: object) -> None:
        raise ZeroDivisionError("no way")

    monkeypatch.setattr(controller.audit, "CHECKS", (Check("advertised", advertised.find), Check("broken", broken)))
    verdict = audit(sound(tmp_path).write())
    assert (verdict.verdict, verdict.reasons) == ("unknown", ["broken: the check broke: ZeroDivisionError: no way"])


def test_no_run_directory_is_wrong_use(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        audit(tmp_path / "nowhere")


def test_scratch_is_removed_while_somebody_else_still_deletes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scratch = tmp_path / "scratch"
    (scratch / "local").mkdir(parents=True)
    remove, attempts = shutil.rmtree, []

    def disturbed(path: Path, **options: bool) -> None:
        attempts.append(path)
        if len(attempts) > 1:
            remove(path, **options)

    monkeypatch.setattr(session_module.shutil, "rmtree", disturbed)
    session_module._remove(scratch)
    assert not scratch.exists() and len(attempts) == 2


def test_java_is_asked_for_its_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EnvironmentProblem, match="no java found"):
        session_module.require_java()
    java = tmp_path / "java"
    for version, problem in (("1.8.0_292", "is Java 8"), ("11.0.2", "is Java 11"), ("x", "gives no version")):
        java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
        java.chmod(java.stat().st_mode | stat.S_IXUSR)
        with pytest.raises(EnvironmentProblem, match=problem):
            session_module.require_java()
    java.write_text("#!/bin/sh\necho 'openjdk version \"21\" 2023-09-19' >&2\n")
    session_module.require_java()
    monkeypatch.setenv("JAVA_HOME", os.fspath(tmp_path / "nowhere"))
    with pytest.raises(EnvironmentProblem, match="does not run"):
        session_module.require_java()
