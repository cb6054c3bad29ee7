"""Every kind of fault in virtual time: what it does is read from the logs of the nodes that it was done to."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from controller import faults
from controller.campaigns import model
from controller.campaigns.rehearsal import Rehearsed, rehearse

S = 10**9
AT_S, FOR_S = 1, 4


class Seen:
    def __init__(self, played: Rehearsed) -> None:
        self.logs = {name: [json.loads(line) for line in told.splitlines()] for name, told in played.logs.items()}
        lines = self.logs["controller.1.jsonl"]
        self.faults = [line for line in lines if line["event"] == "fault"]
        self.start, self.end = (line["t"] for line in self.faults)

    def of(self, node: str, *events: str) -> list[dict[str, Any]]:
        """While the fault lasted; its beginning and its end are left out."""
        return [line for name, lines in sorted(self.logs.items()) for line in lines
                if name.startswith(f"{node}.") and line["event"] in events
                and self.start + 0.3 * S < line["t"] < self.end - 0.3 * S]  # fmt: skip

    def crossed(self, a: str, b: str) -> list[float]:
        """How many milliseconds each publication took from one broker to the other."""
        sent = {line["msg"]: line["t"] for line in self.of(a, "forward")
                if line["to"] == b and line["kind"] == "publication"}  # fmt: skip
        return [(line["t"] - line["wait_ns"] - sent[line["msg"]]) / 1e6 for line in self.of(b, "handle")
                if line.get("msg") in sent and line["from"] == a]  # fmt: skip

    def down(self, node: str, peer: str) -> bool:
        return any(line["peer"] == peer and line["state"] == "down" for line in self.of(node, "link"))


def came_back(seen: Seen) -> bool:
    return "b2.2.jsonl" in seen.logs and not seen.of("b2", "handle")


def delivered(seen: Seen, client: str) -> int:
    return sum(line["client"] == client for line in seen.of("driver1", "deliver", "publish"))


EVERY_KIND: list[tuple[str, str, dict[str, Any], Callable[[Seen], bool]]] = [
    ("kill", "broker:b2", {}, came_back),
    ("restart", "broker:b2", {}, lambda seen: "b2.2.jsonl" in seen.logs),
    ("stop", "broker:b2", {}, came_back),
    ("pause", "broker:b2", {}, lambda seen: not seen.of("b2", "handle", "sample") and "b2.2.jsonl" not in seen.logs),
    ("pause", "client:c1", {}, lambda seen: delivered(seen, "c1") == 0 < delivered(seen, "c2")),
    ("client-crash", "client:c1", {}, lambda seen: delivered(seen, "c1") == 0 < delivered(seen, "c2")),
    ("cut", "link:b1-b2", {}, lambda seen: seen.crossed("b1", "b2") == [] and seen.down("b1", "b2")),
    ("cut", "link:b1-b2", {"direction": "forth"}, lambda seen: seen.down("b2", "b1") and not seen.down("b1", "b2")),
    ("partition", "broker:b1", {}, lambda seen: seen.down("b1", "b2") and not seen.down("b2", "b3")),
    ("flap", "link:b1-b2", {"up_ms": 300, "down_ms": 300}, lambda seen: max(seen.crossed("b1", "b2")) > 100),
    ("delay", "link:b1-b2", {"delay_ms": 100}, lambda seen: min(seen.crossed("b1", "b2")) >= 100),
    ("jitter", "link:b1-b2", {"jitter_ms": 50}, lambda seen: 20 < max(seen.crossed("b1", "b2")) < 60),
    ("loss", "link:b1-b2", {"share": 0.3}, lambda seen: max(seen.crossed("b1", "b2")) > 100),
    ("duplicate", "link:b1-b2", {"share": 0.5}, lambda seen: len(seen.crossed("b1", "b2")) > 10),
    ("reorder", "link:b1-b2", {"share": 0.3}, lambda seen: max(seen.crossed("b1", "b2")) > 15),
    ("rate", "link:b1-b2", {"rate_kbps": 100}, lambda seen: min(seen.crossed("b1", "b2")) > 2),
    ("throttle", "broker:b2", {"cpu_share": 0.05}, lambda seen: len(seen.of("b2", "handle")) > 10),
    ("memory", "broker:b2", {"limit_mb": 128}, lambda seen: len(seen.of("b2", "handle")) > 10),
    ("clock-skew", "broker:b2", {"rate": 4}, lambda seen: len(seen.of("b2", "handle")) > 10),
    ("clock-skew", "broker:b2", {"ahead_ms": 9_000}, lambda seen: len(seen.of("b2", "handle")) > 10),
    ("disk-full", "broker:b2", {}, lambda seen: not seen.of("b2", "handle", "forward")),
    ("isolate", "broker:b2", {}, lambda seen: seen.down("b1", "b2") and not seen.crossed("b1", "b2")),
]  # fmt: skip


def played(events: list[dict[str, Any]], load_s: float = 7) -> Rehearsed:
    (run,) = model.runs(model.load("smoke", {
        "faults": json.dumps(events), "phases.load_s": str(load_s), "workload.rate_hz": "60", "seed": "3",
    }))  # fmt: skip
    return rehearse(run)


def test_every_kind_is_tried_below() -> None:
    assert {kind for kind, *_ in EVERY_KIND} == set(faults.names())


@pytest.mark.parametrize(
    ("kind", "target", "args", "bites"), EVERY_KIND, ids=lambda value: value if isinstance(value, str) else ""
)
def test_it_bites_heals_is_measured_and_nothing_is_lost_that_should_not_be(
    kind: str, target: str, args: dict[str, Any], bites: Callable[[Seen], bool]
) -> None:
    lasts = {} if faults.find(kind).heals_at_once else {"for_s": FOR_S}
    run = played([{"kind": kind, "target": target, "at_s": AT_S, **lasts, **args}])
    assert (run.course.outcome, run.course.doubts, run.course.unmeasured) == ("complete", (), ()), run.course.why
    judged = run.judgement()
    assert judged.verdict == "pass" and judged.pairs_required > 100, judged.told()
    seen = Seen(run)
    assert [line["phase"] for line in seen.faults] == ["apply", "heal"]
    assert {(line["id"], line["kind"]) for line in seen.faults} == {("f1", kind)}
    assert bites(seen)


def over(kind: str, target: str, at_s: float, for_s: float, **args: Any) -> dict[str, Any]:
    return {"kind": kind, "target": target, "at_s": at_s, "for_s": for_s, **args}


LAYERS = {
    "two delays and a cut on one link": [
        over("delay", "link:b1-b2", 0.5, 5, delay_ms=20),
        over("delay", "link:b1-b2", 1, 2, delay_ms=80),
        over("cut", "link:b1-b2", 2, 2),
    ],
    "kill while paused": [over("pause", "broker:b2", 0.5, 3), over("kill", "broker:b2", 1, 1)],
    "pause while killed is nothing": [over("kill", "broker:b2", 0.5, 2), over("pause", "broker:b2", 1, 1)],
    "isolate while cut": [over("cut", "link:b1-b2", 0.5, 4), over("isolate", "broker:b2", 1, 2)],
    "throttle, memory and a fast clock": [
        over("throttle", "broker:b2", 0.5, 4, cpu_share=0.1),
        over("memory", "broker:b2", 1, 2, limit_mb=200),
        over("clock-skew", "broker:b2", 1, 3, rate=3),
    ],
    "killed twice": [over("kill", "broker:b2", 0.5, 3), over("kill", "broker:b2", 1, 1)],
    "stopped while paused": [over("pause", "broker:b2", 0.5, 2), over("stop", "broker:b2", 1, 3)],
    "killed while stopping behind a cut": [
        over("cut", "link:b1-b2", 0.5, 3),
        over("stop", "broker:b2", 0.6, 4),
        over("kill", "broker:b2", 0.7, 1),
    ],
    "a client crashes while paused, its broker restarts": [
        over("pause", "client:c1", 0.5, 4),
        over("client-crash", "client:c1", 1, 1),
        over("stop", "broker:b1", 2, 1),
    ],
    "all brokers end in order at once": [over("stop", "broker:*", 1, 1)],
    "disk full, isolated and killed": [
        over("disk-full", "broker:b2", 0.5, 4),
        over("isolate", "broker:b2", 1, 2),
        over("kill", "broker:b2", 2, 2),
    ],
    "all brokers at once": [over("kill", "broker:*", 1, 1)],
    "a bad line": [
        over("loss", "link:*", 0.5, 5, share=0.2),
        over("duplicate", "link:*", 0.5, 5, share=0.3),
        over("reorder", "link:*", 0.5, 5, share=0.3),
        over("rate", "link:b1-b2", 1, 3, rate_kbps=200),
        over("flap", "link:b2-b3", 1, 3, up_ms=400, down_ms=200),
    ],
}


@pytest.mark.parametrize("name", LAYERS)
def test_faults_on_top_of_each_other_heal_one_by_one(name: str) -> None:
    run = played(LAYERS[name])
    assert (run.course.outcome, run.course.doubts) == ("complete", ()), run.course.why
    judged = run.judgement()
    assert judged.verdict == "pass", judged.told()
    seen = [json.loads(line) for line in run.logs["controller.1.jsonl"].splitlines()]
    told = [(line["id"], line["target"], line["phase"]) for line in seen if line["event"] == "fault"]
    assert sorted({one[:2] for one in told}) == sorted(one[:2] for one in told if one[2] == "heal")
