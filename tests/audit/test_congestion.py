"""Bursts are traced to what set them off: on steps by hand, and on a simulated run whose burst is known exactly."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from controller.audit.congestion.intervals import Interval, merged, sentence
from controller.audit.congestion.settling import settling
from controller.audit.congestion.tracing import RENEWED, SENT, TAKEN, Matcher
from controller.audit.congestion.triggered import TRIGGERED
from controller.audit.facts import Phase, RunFacts, Setting
from controller.audit.promise import Window
from tests.audit.burst import NARROW, burst
from tests.audit.judged import Judged
from tests.audit.test_doc import documented, rows

S = 1_000_000_000
MS = 1_000_000
ANY = ("subscribe", "s1")
OTHER = ("subscribe", "s2")


def matched(*steps: tuple[int, int | None, tuple[str, str] | None, int, int | None]) -> list[tuple[int, int]]:
    matcher = Matcher()
    for tag, inc, what, line, cause in steps:
        matcher.take(("a", "b"), tag, inc, what or (None, None), line, cause)
    return matcher.found


def test_what_is_handled_is_what_was_sent_first() -> None:
    steps = [(SENT, 1, ANY, 1, 91), (SENT, 1, OTHER, 2, 92), (SENT, 1, ANY, 3, 93)]
    assert matched(*steps, (TAKEN, 1, ANY, 11, None), (TAKEN, 1, OTHER, 12, None), (TAKEN, 1, ANY, 13, None)) == [
        (11, 91), (12, 92), (13, 93)]  # fmt: skip


def test_what_nothing_caused_begins_with_its_sending() -> None:
    assert matched((SENT, 1, ANY, 1, None), (TAKEN, 1, ANY, 11, None)) == [(11, 1)]


def test_what_was_never_sent_has_no_cause() -> None:
    assert matched((TAKEN, 1, ANY, 11, None)) == []


def test_a_new_receiver_gets_nothing_that_was_sent_before() -> None:
    steps = [(SENT, 1, ANY, 1, 91), (RENEWED, 1, None, 2, None), (SENT, 1, ANY, 3, 93), (TAKEN, 2, ANY, 11, None)]
    assert matched(*steps) == [(11, 93)]


def test_a_new_sender_sent_nothing_of_what_its_former_life_did() -> None:
    steps = [(SENT, 1, ANY, 1, 91), (SENT, 2, ANY, 3, 93), (RENEWED, None, None, 10, None), (TAKEN, 1, ANY, 11, None)]
    assert matched(*steps) == [(11, 93)]


def test_links_are_apart() -> None:
    matcher = Matcher()
    matcher.take(("a", "b"), SENT, 1, ANY, 1, 91)
    matcher.take(("a", "c"), TAKEN, 1, ANY, 11, None)
    assert matcher.found == []


def bucket(node: str, t: int, wait_ns: int = 60 * MS) -> dict[str, Any]:
    return {"node": node, "bucket": t, "handled": 2, "wait_ns": wait_ns, "wait_max_ns": wait_ns, "work_ns": MS}


def test_buckets_with_a_short_break_are_one_congestion() -> None:
    width = 100 * MS
    busy = [bucket("b1", 0), bucket("b1", 3 * width, 90 * MS), bucket("b1", 7 * width), bucket("b2", 7 * width)]
    found = [(one.node, one.start_t, one.end_t, one.handled, one.wait_max_ns) for one in merged(busy, width)]
    assert found == [
        ("b1", 0, 4 * width, 4, 90 * MS), ("b1", 7 * width, 8 * width, 2, 60 * MS), ("b2", 7 * width, 8 * width, 2,
                                                                                    60 * MS)]  # fmt: skip


@pytest.mark.parametrize(
    ("cause", "fault", "told"),
    [
        ("unsubscribe s17", None, "caused by unsubscribe s17: 2,104 triggered (queue up to 1,800, waits up to 3.1 s)"),
        (
            "publications",
            "pause of E (f3)",
            "busy with publications: 2,104 handled (queue up to 1,800, waits up to 3.1 s, during the pause of E (f3))",
        ),
    ],
)
def test_the_sentence(cause: str, fault: str | None, told: str) -> None:
    start_t = (14 * 3600 + 190) * S
    interval = Interval("E", start_t, start_t + 42 * S, 2300, 9, 3_100 * MS, 1, 1800, cause, 2104, fault)
    assert sentence(interval) == f"broker E, 14:03:10 to 14:03:52, {told}"


def test_settling() -> None:
    quiet = [Phase("quiet", 25 * S, 25 * S)]
    windows = [Window("k1", "kill", "broker:b1", {}, 10 * S, 20 * S, 25 * S)]
    facts = RunFacts("perfect", [], [], ["b1"], [], windows, quiet, [], [], [], Setting())
    rows = [
        {"cause": "the healing of the kill", "fault": "k1", "t": 20 * S, "messages": 3, "last_t": 21 * S},
        {"cause": "unsubscribe s1", "fault": None, "t": 30 * S, "messages": 500, "last_t": 31 * S},
        {"cause": "unsubscribe s2", "fault": None, "t": 40 * S, "messages": 5, "last_t": 41 * S},
    ]
    told = [{**row, "settle_ns": row["last_t"] - row["t"]} for row in rows]
    congested = [Interval("b1", 33 * S, 35 * S, 1, 1, 1, 1), Interval("b2", 30 * S, 33 * S, 1, 1, 1, 1)]
    found = settling(facts, pa.Table.from_pylist(told, TRIGGERED), congested).to_pylist()
    assert [(row["cause"], row["settle_ns"], row["drained_ns"], row["quiet_ns"]) for row in found] == [
        ("the healing of the kill", S, 0, 5 * S), ("unsubscribe s1", S, 5 * S, None)]  # fmt: skip


def test_a_burst_is_traced_to_the_unsubscription_that_set_it_off(spark: SparkSession, tmp_path: Path) -> None:
    """b3 sends the narrow ones and the withdrawal to b2, b2 to b1: they do not fit into a tenth of a second."""
    judged = Judged(burst(tmp_path / "runs" / "one"))
    assert judged.verdict.verdict == "pass", judged.verdict.reasons
    audit = judged.run / "audit"
    causes = {row["cause"]: row for row in pq.read_table(audit / "triggered.parquet").to_pylist()}
    wide = causes["unsubscribe wide"]
    assert (wide["messages"], wide["entries"], wide["brokers"], wide["hops"]) == (2 * (NARROW + 1), 2 * NARROW, 2, 2)
    assert wide["node"] == "b3" and wide["settle_ns"] > 100 * MS
    assert causes["subscribe wide"]["messages"] == 2 and "subscribe s1" not in causes, "covered, so never sent"
    by_broker = pq.read_table(audit / "triggered_brokers.parquet").to_pylist()
    assert {row["node"]: row["messages"] for row in by_broker if row["cause"] == "unsubscribe wide"} == {
        "b2": NARROW + 1, "b3": NARROW + 1}  # fmt: skip
    congested = pq.read_table(audit / "congested.parquet").to_pylist()
    assert {row["node"] for row in congested} == {"b1", "b2"}
    for row in congested:
        assert (row["cause"], row["triggered"], row["depth_max"]) == ("unsubscribe wide", NARROW + 1, NARROW)
    assert judged.verdict.congested[0].startswith("broker b")
    assert (
        "caused by unsubscribe wide: 301 triggered (queue up to 300, waits up to 120 ms)" in judged.verdict.congested[0]
    )
    burst_settled = {row["cause"]: row for row in pq.read_table(audit / "settling.parquet").to_pylist()}
    assert burst_settled["unsubscribe wide"]["settle_ns"] == wide["settle_ns"]
    work = pq.read_table(audit / "work.parquet").to_pylist()
    assert sum(row["handled"] for row in work if (row["node"], row["kind"]) == ("b1", "subscribe")) == NARROW + 1
    for table in rows("Files in RUN/audit"):
        assert documented(table) == set(pq.read_schema(audit / f"{table}.parquet").names), table
    written = {path.stem for path in audit.glob("*.parquet")} - {"violations"}
    assert written == set(rows("Files in RUN/audit"))
