"""The driver plays what can be played, refuses the rest, and goes on counting after a restart."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.integration.lab import Lab, until
from tests.integration.test_node_relay import attach, delivered, publish, subscribe


def of(records: list[dict[str, Any]], key: str) -> list[tuple[str, str]]:
    return [(record["event"], record[key]) for record in records if record.get(key)]


def test_a_plan_with_mistakes_is_played_as_far_as_it_can_be(tmp_path: Path) -> None:
    with Lab(tmp_path, scheme="covering-active") as lab:
        lab.plan(
            subscribe("nobody", "s0", "x > 1"),
            attach("c1", "b9"),
            attach("c1", "b1"),
            attach("c:2", "b1"),
            subscribe("c1", "s1", "x >"),
            subscribe("c1", "s2", "x > 1"),
            subscribe("c1", "s2", "x > 2"),
            {"op": "unsubscribe", "client": "c1", "sub": "s9"},
            publish("warm", "c1", 1),
            {"op": "advertise", "client": "c1", "adv": "a1", "filter": "x < 5", "lang": "attr"},
            publish("warm", "c1", 2),
            publish("warm", "c1", 9),
            {"op": "publish", "client": "c1", "content": {"no name": 1}, "lang": "attr"},
            {"op": "unsubscribe", "client": "c1", "sub": "s2"},
            {"op": "unadvertise", "client": "c1", "adv": "a1"},
            publish("warm", "c1", 3),
            {"op": "detach", "client": "c1"},
            {"op": "detach", "client": "c1"},
        )
        lab.start_all()
        lab.play("warm")
        lab.wait_done()
        assert lab.terminate("driver1") == 0
        refused = [record["what"] for record in lab.log("driver1", "refuse")]
        assert refused == ["c:2", "s0", "c1", "s1", "s2", "s9", "c1", "c1", "c1", "c1", "c1"]
        assert of(lab.log("driver1"), "sub") == [
            ("subscribe", "s2"), ("established", "s2"), ("unsubscribe", "s2"), ("unsubscribed", "s2"),
        ]  # fmt: skip
        assert of(lab.log("driver1"), "adv") == [("advertise", "a1"), ("advertised", "a1"), ("unadvertise", "a1")]
        assert [record["content"] for record in lab.log("driver1", "publish")] == [{"x": 2}]
        assert delivered(lab, "c1") == [1]
        assert len(lab.log("driver1", "detach")) == 1


def test_numbers_go_on_after_a_restart_of_the_driver(tmp_path: Path) -> None:
    with Lab(tmp_path) as lab:
        plan = [attach("c1", "b1"), publish("load", "c1", 1), publish("load", "c1", 2)]
        lab.plan(*plan)
        lab.start_all()
        for kill in (True, False):
            lab.play("warm")
            lab.play("load")
            lab.wait_done()
            if kill:
                lab.kill("driver1")
                lab.start("driver1")
                lab.wait_ready("driver1")
        assert [(r["inc"], r["seq"]) for r in lab.log("driver1", "publish")] == [(1, 1), (1, 2), (2, 3), (2, 4)]


def test_operations_keep_their_intended_time_while_they_wait(tmp_path: Path) -> None:
    with Lab(tmp_path) as lab:
        lab.plan(attach("c1", "b1"), *(publish("load", "c1", x, at_ms=20 * x) for x in range(10)))
        lab.start("b2", "b3", "driver1")
        lab.wait_ready("driver1")
        lab.play("warm")
        lab.play("load")
        until(lambda: lab.must("driver1", "status")["pending"] >= 10, "all wait for a broker that is not there")
        assert lab.log("driver1", "publish") == []
        lab.start("b1")
        lab.wait_done()
        records = lab.log("driver1", "publish")
        steps = [b["intended_t"] - a["intended_t"] for a, b in pairwise(records)]
        assert steps == [20_000_000] * 9
        assert records[0]["t"] - records[0]["intended_t"] > 180_000_000


def test_a_client_that_leaves_gets_nothing_more_and_may_come_back(tmp_path: Path) -> None:
    with Lab(tmp_path) as lab:
        lab.plan(
            attach("p1", "b1"), attach("c1", "b3"), subscribe("c1", "s1", "x > 0"),
            {"op": "detach", "client": "c1", "phase": "load"},
            publish("load", "p1", 1, at_ms=300),
            {**attach("c1", "b2"), "phase": "final"},
            {**subscribe("c1", "s2", "x > 0"), "phase": "final"},
            publish("final", "p1", 2, at_ms=500),
        )  # fmt: skip
        lab.start_all()
        for phase in ("warm", "load", "final"):
            lab.play(phase)
            lab.wait_done()
            lab.wait_quiet()
        deliveries = lab.log("driver1", "deliver")
        assert [(r["broker"], r["msg"], r["subs"]) for r in deliveries] == [("b2", "p1:2", ["s2"])]


def test_many_clients_at_once(tmp_path: Path) -> None:
    with Lab(tmp_path) as lab:
        many = [f"c{i}" for i in range(400)]
        lab.plan(
            *(attach(client, lab.brokers[i % 3]) for i, client in enumerate(many)),
            *(subscribe(client, f"s{i}", f"x = {i % 40}") for i, client in enumerate(many)),
            *(publish("load", many[x], x, at_ms=x * 5) for x in range(40)),
        )
        lab.start_all()
        lab.play("warm")
        lab.wait_done()
        lab.play("load")
        lab.wait_done()
        until(lambda: lab.must("driver1", "status")["delivered"] == 400, "everyone gets what it asked for")
