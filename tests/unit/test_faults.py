from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller import faults, topology
from controller.errors import UsageError
from controller.faults.base import Fault, Wish
from controller.faults.lab import ClusterLab, LinkShape
from controller.faults.ledger import Ledger, Skipped
from controller.runtimes.base import NodeState
from controller.topology import Link, Topology

LINE = topology.load("line-3")
SLOW = Topology("slow", "", LINE.brokers, (Link("b1", "b2", 5), Link("b2", "b3")))


class PaperRuntime:
    """Brokers as words on paper; the story holds everything that was done to them, in order."""

    def __init__(self, story: list[str]) -> None:
        self.states: dict[str, NodeState] = dict.fromkeys(LINE.broker_names, "running")
        self._story = story

    def state(self) -> dict[str, NodeState]:
        return dict(self.states)

    def _set(self, verb: str, node: str, state: NodeState) -> None:
        self._story.append(f"{verb} {node}")
        self.states[node] = state

    def kill(self, node: str) -> None:
        self._set("kill", node, "dead")

    def start(self, node: str) -> None:
        self._set("start", node, "running")

    def pause(self, node: str) -> None:
        self._set("pause", node, "paused")

    def resume(self, node: str) -> None:
        self._set("resume", node, "running" if self.states[node] == "paused" else self.states[node])


class PaperCluster:
    def __init__(self, overlay: Topology = LINE) -> None:
        self.story: list[str] = []
        self.runtime: Any = PaperRuntime(self.story)
        self.topology = overlay
        self.ready = set(LINE.broker_names)
        self.shapes: dict[tuple[str, str], LinkShape] = {}

    def is_ready(self, broker: str) -> bool:
        return broker in self.ready

    def answers(self, broker: str) -> bool:
        return bool(self.runtime.states[broker] == "running")

    def shape(self, broker: str, peer: str, delay_ms: float, cut: bool) -> None:
        assert self.runtime.states[broker] == "running", "who is dead or paused cannot be asked"
        self.story.append(f"shape {broker}>{peer} {delay_ms:g}{' cut' if cut else ''}")
        self.shapes[broker, peer] = LinkShape(delay_ms, cut)


def made(overlay: Topology = LINE) -> tuple[PaperCluster, Ledger]:
    cluster = PaperCluster(overlay)

    def record(fault: Fault, phase: str) -> None:
        cluster.story.append(f"record {phase} {fault.id} {fault.kind} {fault.target}")

    return cluster, Ledger(ClusterLab(cluster), cluster.runtime.state, record)


def test_a_kill_is_recorded_before_it_bites_and_healed_when_the_broker_is_ready() -> None:
    cluster, ledger = made()
    fault = ledger.apply("kill", "broker:b2", {})
    cluster.ready.discard("b2")
    ledger.heal(fault)
    assert ledger.settle() == []
    assert cluster.story == ["record apply f1 kill broker:b2", "kill b2", "start b2"]
    cluster.ready.add("b2")
    assert ledger.settle() == [fault]
    assert cluster.story[-1] == "record heal f1 kill broker:b2"
    assert ledger.settle() == []


def test_restart_is_a_death_that_heals_at_once() -> None:
    kind = faults.find("restart")
    assert kind.heals_at_once
    assert kind.is_death
    cluster, ledger = made()
    ledger.heal(ledger.apply("restart", "broker:b1", {}))
    assert cluster.story == ["record apply f1 restart broker:b1", "kill b1", "start b1"]


def test_a_pause_ends_with_resume() -> None:
    cluster, ledger = made()
    ledger.heal(ledger.apply("pause", "broker:b1", {}))
    ledger.settle()
    assert cluster.story == [
        "record apply f1 pause broker:b1",
        "pause b1",
        "resume b1",
        "record heal f1 pause broker:b1",
    ]


def test_a_cut_is_made_and_mended_at_both_ends() -> None:
    cluster, ledger = made()
    fault = ledger.apply("cut", "link:b1-b2", {})
    assert cluster.story[1:] == ["shape b1>b2 0 cut", "shape b2>b1 0 cut"]
    ledger.heal(fault)
    assert cluster.story[3:] == ["shape b1>b2 0", "shape b2>b1 0"]


def test_a_healed_delay_goes_back_to_the_topologys() -> None:
    cluster, ledger = made(SLOW)
    fault = ledger.apply("delay", "link:b1-b2", {"delay_ms": 50})
    assert cluster.shapes["b2", "b1"] == LinkShape(50, False)
    ledger.heal(fault)
    assert cluster.shapes["b2", "b1"] == LinkShape(5, False)


def test_a_broker_restarted_while_its_link_is_cut_is_told_so_before_it_counts_as_ready() -> None:
    cluster, ledger = made()
    ledger.apply("cut", "link:b1-b2", {})
    killed = ledger.apply("kill", "broker:b2", {})
    cluster.story.clear()
    ledger.heal(killed)
    ledger.settle()
    assert cluster.story == ["start b2", "shape b2>b1 0 cut", "record heal f2 kill broker:b2"]


def test_a_link_shaped_while_one_end_is_paused_is_shaped_there_when_it_resumes() -> None:
    cluster, ledger = made()
    paused = ledger.apply("pause", "broker:b2", {})
    ledger.apply("delay", "link:b2-b3", {"delay_ms": 20})
    assert ("b2", "b3") not in cluster.shapes
    ledger.heal(paused)
    assert cluster.shapes["b2", "b3"] == LinkShape(20, False)


@pytest.mark.parametrize(
    ("first", "then"), [("kill", "kill"), ("kill", "pause"), ("kill", "restart"), ("pause", "pause")]
)
def test_a_fault_with_nothing_to_hit_is_skipped_and_leaves_no_record(first: str, then: str) -> None:
    cluster, ledger = made()
    ledger.apply(first, "broker:b1", {})
    before = list(cluster.story)
    with pytest.raises(Skipped, match=f"{then} of b1 skipped: it is (dead|paused) already"):
        ledger.apply(then, "broker:b1", {})
    assert cluster.story == before
    assert list(ledger.active) == ["f1"]


def test_a_paused_broker_can_be_killed_and_both_faults_heal() -> None:
    cluster, ledger = made()
    ledger.apply("pause", "broker:b1", {})
    ledger.apply("kill", "broker:b1", {})
    ledger.heal_all()
    assert {fault.id for fault in ledger.settle()} == {"f1", "f2"}
    assert cluster.runtime.states["b1"] == "running"


def test_everything_is_healed_links_first_and_the_dead_last() -> None:
    cluster, ledger = made()
    for kind, target, args in (
        ("kill", "broker:b3", {}),
        ("pause", "broker:b1", {}),
        ("cut", "link:b1-b2", {}),
        ("delay", "link:b2-b3", {"delay_ms": 9}),
    ):
        ledger.apply(kind, target, args)
    cluster.story.clear()
    ledger.heal_all()
    ledger.settle()
    order = [line for line in cluster.story if line.startswith(("resume", "start", "shape b2"))]
    assert order == ["shape b2>b1 0", "shape b2>b3 0", "resume b1", "start b3"]
    assert not ledger.active
    assert not ledger.healing


def test_what_an_earlier_command_applied_is_recalled_without_doing_it_again() -> None:
    cluster, ledger = made()
    ledger.recall([Fault("f4", "cut", "link:b1-b2"), Fault("f5", "kill", "broker:b2")])
    cluster.runtime.states["b2"] = "dead"
    assert cluster.story == []
    ledger.heal(ledger.on("broker:b2")[0])
    ledger.settle()
    assert "shape b2>b1 0 cut" in cluster.story


@pytest.mark.parametrize(
    ("kind", "args", "told"),
    [
        ("delay", {}, "fault delay: .*delay_ms"),
        ("delay", {"delay_ms": -1}, "fault delay: .*>= 0"),
        ("delay", {"delay_ms": "long"}, "fault delay"),
        ("cut", {"delay_ms": 1}, "fault cut: .*unknown field"),
        ("cutt", {}, "no fault `cutt`; did you mean `cut`\\?"),
    ],
)
def test_wrong_arguments_are_told_before_anything_happens(kind: str, args: dict[str, Any], told: str) -> None:
    cluster, ledger = made()
    with pytest.raises(UsageError, match=told):
        ledger.apply(kind, "link:b1-b2", args)
    assert cluster.story == []


wishes = st.builds(Wish, delay_ms=st.none() | st.integers(0, 99).map(float), cut=st.none() | st.booleans())
steps = st.lists(
    st.tuples(st.just("shape"), st.integers(1, 6), wishes)
    | st.tuples(st.just("unshape"), st.integers(1, 6), st.none())
    | st.tuples(st.sampled_from(["kill", "pause", "back"]), st.sampled_from(["b1", "b2"]), st.none()),
    max_size=25,
)


@given(steps)
def test_in_the_end_both_ends_treat_the_link_as_the_last_faults_ask(story: list[tuple[str, Any, Wish | None]]) -> None:
    """The dumb twin keeps a list and reads it from the start each time."""
    cluster = PaperCluster(SLOW)
    lab = ClusterLab(cluster)
    asked: list[tuple[int, Wish]] = []
    states = cluster.runtime.states
    for verb, what, wish in story:
        if verb == "shape" and wish is not None and all(number != what for number, _ in asked):
            asked.append((what, wish))
            lab.shape(Fault(f"f{what}", "x", "link:b1-b2"), wish)
        elif verb == "unshape" and any(number == what for number, _ in asked):
            asked = [one for one in asked if one[0] != what]
            lab.unshape(Fault(f"f{what}", "x", "link:b1-b2"))
        elif verb == "kill" and states[what] == "running":
            lab.kill(what)
            cluster.shapes = {ends: shape for ends, shape in cluster.shapes.items() if ends[0] != what}
        elif verb == "pause" and states[what] == "running":
            lab.pause(what)
        elif verb == "back":
            back(lab, what, states[what])
    for broker in ("b1", "b2"):
        back(lab, broker, states[broker])
    delay_ms, cut = 5.0, False
    for _, wish in asked:
        delay_ms = delay_ms if wish.delay_ms is None else wish.delay_ms
        cut = cut if wish.cut is None else wish.cut
    for ends in (("b1", "b2"), ("b2", "b1")):
        assert cluster.shapes.get(ends, LinkShape(5, False)) == LinkShape(delay_ms, cut)


def back(lab: ClusterLab, broker: str, state: NodeState) -> None:
    if state == "dead":
        lab.start(broker)
        assert lab.is_ready(broker)
    elif state == "paused":
        lab.resume(broker)
