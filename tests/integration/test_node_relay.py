"""Brokers and a driver as real processes: what is published arrives, whatever happens to links and brokers."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.integration.lab import Lab, until


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    with Lab(tmp_path) as made:
        yield made


def attach(client: str, broker: str) -> dict[str, Any]:
    return {"op": "attach", "client": client, "broker": broker}


def subscribe(client: str, sub: str, text: str) -> dict[str, Any]:
    return {"op": "subscribe", "client": client, "sub": sub, "filter": text, "lang": "attr"}


def publish(phase: str, client: str, x: int, at_ms: int = 0) -> dict[str, Any]:
    return {"phase": phase, "at_ms": at_ms, "op": "publish", "client": client, "content": {"x": x}, "lang": "attr"}


def delivered(lab: Lab, client: str) -> list[int]:
    return [record["seq"] for record in lab.log("driver1", "deliver") if record["client"] == client]


ENDS = [attach("p1", "b1"), attach("c1", "b3"), subscribe("c1", "s1", "x > 5")]


def test_what_matches_arrives_once_in_order_and_the_logs_tell_how(lab: Lab) -> None:
    lab.plan(*ENDS, subscribe("c1", "s2", "x > 8"), *(publish("load", "p1", x) for x in range(1, 11)))
    lab.start_all()
    lab.play("warm")
    lab.wait_done()
    lab.play("load")
    lab.wait_done()
    lab.wait_quiet()
    assert lab.terminate("driver1") == 0
    assert [lab.terminate(broker) for broker in lab.brokers] == [0, 0, 0]

    assert delivered(lab, "c1") == [6, 7, 8, 9, 10]
    subs = {record["seq"]: record["subs"] for record in lab.log("driver1", "deliver")}
    assert subs[6] == ["s1"] and subs[9] == ["s1", "s2"]
    for node in (*lab.brokers, "driver1"):
        records = lab.log(node)
        assert [record["n"] for record in records] == list(range(1, len(records) + 1))
        assert all(a["t"] <= b["t"] for a, b in pairwise(records))
        assert (records[0]["event"], records[-1]["event"]) == ("open", "close")
    path = [(record["node"], record["to"]) for broker in lab.brokers for record in lab.log(broker, "forward")
            if record.get("msg") == "p1:7"]  # fmt: skip
    assert path == [("b1", "b2"), ("b2", "b3"), ("b3", "c1")]
    handles = {record["n"]: record for record in lab.log("b2", "handle")}
    onward = next(record for record in lab.log("b2", "forward") if record.get("msg") == "p1:7")
    assert handles[onward["cause"]]["msg"] == "p1:7" and handles[onward["cause"]]["from"] == "b1"
    assert lab.log("b1", "sample")


def test_a_burst_beyond_all_credit_is_slowed_down_and_not_lost(lab: Lab) -> None:
    lab.plan(*ENDS, *(publish("load", "p1", 6) for _ in range(3_000)))
    lab.start_all()
    lab.play("warm")
    lab.wait_done()
    lab.play("load")
    until(lambda: lab.must("driver1", "status")["delivered"] == 3_000, "all 3000 arrive")
    assert delivered(lab, "c1") == list(range(1, 3_001))


@pytest.mark.parametrize("victim", ["b2", "b3"])
def test_a_killed_and_restarted_broker_heals_by_itself(lab: Lab, victim: str) -> None:
    lab.plan(*ENDS, publish("load", "p1", 6), publish("final", "p1", 7))
    lab.start_all()
    lab.play("warm")
    lab.wait_done()
    lab.play("load")
    until(lambda: delivered(lab, "c1") == [1], "the first one arrives")
    lab.kill(victim)
    until(
        lambda: [r for r in lab.log("b1" if victim == "b2" else "b2", "link") if r["state"] == "down"], "silence shows"
    )
    lab.start(victim)
    lab.wait_ready(*lab.brokers)
    lab.wait_quiet()
    lab.play("final")
    until(lambda: delivered(lab, "c1") == [1, 2], "what is published after the restart arrives")
    assert {record["inc"] for record in lab.log(victim)} == {1, 2}


def test_a_cut_link_loses_nothing(lab: Lab) -> None:
    lab.plan(*ENDS, *(publish("load", "p1", 6, at_ms=i) for i in range(50)))
    lab.start_all()
    lab.play("warm")
    lab.wait_done()
    answer = lab.must("b2", "shape", peer="b3", shape={"cut": True, "deaf": True})["shape"]
    assert answer["cut"] is True and answer["delay_ms"] == 0
    until(lambda: lab.must("b3", "status")["links"]["b2"]["state"] == "down", "the cut shows at the other end")
    lab.play("load")
    until(lambda: lab.must("b2", "status")["unacked"] == 50, "all wait in front of the cut")
    assert delivered(lab, "c1") == []
    lab.must("b2", "shape", peer="b3", shape={})
    until(lambda: delivered(lab, "c1") == list(range(1, 51)), "all arrive after the cut, once and in order")
    lab.wait_quiet()


def test_a_paused_broker_loses_nothing(lab: Lab) -> None:
    lab.plan(*ENDS, *(publish("load", "p1", 6, at_ms=i) for i in range(50)))
    lab.start_all()
    lab.play("warm")
    lab.wait_done()
    lab.pause("b2")
    until(lambda: lab.must("b3", "status")["links"]["b2"]["state"] == "down", "the silence shows")
    lab.play("load")
    until(lambda: lab.must("b1", "status")["unacked"] == 50, "all wait in front of it")
    assert delivered(lab, "c1") == []
    lab.resume("b2")
    until(lambda: delivered(lab, "c1") == list(range(1, 51)), "all arrive once and in order")
    lab.wait_quiet()
    assert {record["inc"] for record in lab.log("b2")} == {1}


def test_on_a_ring_everything_arrives_once(tmp_path: Path) -> None:
    ring = [("b1", "b2"), ("b2", "b3"), ("b3", "b4"), ("b4", "b1")]
    with Lab(tmp_path, links=ring) as lab:
        clients = [attach(f"c{i}", f"b{i}") for i in (1, 2, 3, 4)]
        wishes = [subscribe(f"c{i}", f"s{i}", "x > 0") for i in (1, 2, 3, 4)]
        lab.plan(*clients, *wishes, *(publish("load", f"c{i}", i) for i in (1, 2, 3, 4)))
        lab.start_all()
        lab.play("warm")
        lab.wait_done()
        lab.play("load")
        lab.wait_done()
        lab.wait_quiet()
        got = sorted((record["client"], record["msg"]) for record in lab.log("driver1", "deliver"))
        assert got == [(f"c{i}", f"c{j}:1") for i in (1, 2, 3, 4) for j in (1, 2, 3, 4)]


def test_what_a_scheme_keeps_survives_a_kill(tmp_path: Path) -> None:
    with Lab(tmp_path, scheme="tests.integration.odd_schemes:Remembering") as lab:
        lab.plan(*ENDS)
        lab.start_all()
        lab.play("warm")
        lab.wait_done()
        assert lab.must("b1", "table")["entries"] == [{"restored": []}]
        lab.kill("b1")
        lab.start("b1")
        lab.wait_ready("b1")
        assert lab.must("b1", "table")["entries"] == [{"restored": ["s1: x > 5"]}]


def test_a_delayed_link_delays(tmp_path: Path) -> None:
    with Lab(tmp_path, delay_ms=40) as lab:
        lab.plan(*ENDS, publish("load", "p1", 6), publish("final", "p1", 7))
        lab.start_all()
        assert lab.must("b1", "status")["links"]["b2"]["delay_ms"] == 40
        lab.play("warm")
        lab.wait_done()
        lab.play("load")
        until(lambda: delivered(lab, "c1") == [1], "it arrives")
        lab.must("b2", "shape", peer="b3", shape={"delay_ms": 240})
        lab.play("final")
        until(lambda: delivered(lab, "c1") == [1, 2], "it arrives, later")
        sent, came = lab.log("driver1", "publish"), lab.log("driver1", "deliver")
        delays_ms = [(b["t"] - a["t"]) / 1e6 for a, b in zip(sent, came, strict=True)]
        assert delays_ms[0] >= 80 and delays_ms[1] >= 280


def test_a_shape_that_makes_no_sense_is_answered_with_what_would(lab: Lab) -> None:
    lab.start("b1")
    until(lambda: lab.ask("b1", "status"), "b1 answers")
    for args, hint in (({"peer": "b3"}, "those are b2"), ({"peer": "b2", "shape": {"delay_ms": -1}}, "delay_ms"),
                       ({"peer": "b2", "shape": {"cut": 1}}, "cut")):  # fmt: skip
        answer = lab.ask("b1", "shape", **args)
        assert answer is not None and not answer["ok"] and hint in answer["error"]
    answer = lab.ask("b1", "dance")
    assert answer is not None and not answer["ok"] and "shape" in answer["error"]
