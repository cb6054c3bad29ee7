from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller import faults, topology
from controller.errors import BrokerlabError, NoAnswer, UsageError
from controller.faults.base import Fault, Wish
from controller.faults.lab import ClusterLab
from controller.faults.ledger import Ledger, Skipped
from controller.runtimes.base import NodeState
from controller.topology import Link, Topology
from node.probing import Arrivals
from node.shaping import Shape
from node.strain import Strain

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

    def stop(self, node: str) -> None:
        self._set("stop", node, "dead")

    def start(self, node: str) -> None:
        self._set("start", node, "running")

    def pause(self, node: str) -> None:
        self._set("pause", node, "paused")

    def resume(self, node: str) -> None:
        self._set("resume", node, "running" if self.states[node] == "paused" else self.states[node])


class PaperCluster:
    """Links are as they were asked to be, unless they are among those that `lie`; time passes when it is looked at."""

    def __init__(self, overlay: Topology = LINE) -> None:
        self.story: list[str] = []
        self.runtime: Any = PaperRuntime(self.story)
        self.topology = overlay
        self.drivers = ("driver1",)
        self.ready = set(LINE.broker_names)
        self.shapes: dict[tuple[str, str], Shape] = {}
        self.strains: dict[str, Strain] = {}
        self.away: dict[str, str] = {}
        self.lie: set[tuple[str, str]] = set()
        self.sent: dict[str, tuple[int, int]] = {}
        self.can_leave = True
        self.waiting_for = ["b1"]
        self.deaf: set[str] = set()
        self.refuses = False
        self.lying_strains = False
        self.now = 0.0

    def now_s(self) -> float:
        self.now += 0.25
        return self.now

    def is_ready(self, broker: str) -> bool:
        return broker in self.ready and self.answers(broker)

    def answers(self, broker: str) -> bool:
        return bool(self.runtime.states[broker] == "running") and broker not in self.deaf

    def statuses(self, nodes: list[str], within_s: float = 0) -> dict[str, dict[str, Any] | None]:
        return {node: {"away": self.away} if node == "driver1" else self._status(node) for node in nodes}

    def _status(self, broker: str) -> dict[str, Any] | None:
        if not self.answers(broker):
            return None
        strain = self.strains.get(broker, Strain())
        limit = None if strain.memory_mb is None else strain.memory_mb << 20
        is_up = {name: not self.strains.get(name, Strain()).isolated for name in LINE.broker_names}
        return {
            "inc": sum(line == f"start {broker}" for line in self.story) + 1,
            "left": self.can_leave and f"leave {broker}" in self.story,
            "waiting_for": [] if broker in self.ready else list(self.waiting_for),
            "stalled": strain.disk_full,
            "clock_ns": round(self.now * strain.clock_rate * 1e9) + round(strain.clock_ahead_ms * 1e6),
            "cpu_share": float(strain.cpu_share),
            "memory_limit": limit,
            "links": {name: {"state": "up" if is_up[name] else "down"} for name in LINE.broker_names},
        }

    def _hear(self, broker: str) -> None:
        if broker in self.deaf:
            raise NoAnswer(f"{broker} did not answer")
        if self.refuses:
            raise BrokerlabError(f"{broker} refused")

    def shape(self, broker: str, peer: str, shape: Shape) -> None:
        self._hear(broker)
        assert self.runtime.states[broker] == "running", "who is dead or paused cannot be asked"
        self.story.append(f"shape {broker}>{peer} {shape.delay_ms:g}{' cut' if shape.cut else ''}")
        self.shapes[broker, peer] = shape

    def confine(self, broker: str, strain: Strain) -> Strain:
        assert self.runtime.states[broker] != "dead", "there is nobody to be confined"
        return strain

    def strain(self, broker: str, strain: Strain) -> None:
        self._hear(broker)
        assert self.runtime.states[broker] == "running", "who is dead or paused cannot be asked"
        if not self.lying_strains:
            self.strains[broker] = strain

    def request(self, node: str, op: str, within_s: float = 0, **arguments: Any) -> dict[str, Any]:
        match op:
            case "leave":
                self.story.append(f"leave {node}")
            case "probe":
                self.sent[arguments["token"]] = (arguments["count"], arguments["size"])
            case "probed":
                return self._probed(arguments["token"], node)
            case "effort":
                share = self.strains.get(node, Strain()).cpu_share
                return {"worked_ns": 1_000, "took_ns": round(1_000 / share)}
            case "away":
                self.away[arguments["client"]] = arguments["how"]
            case "back":
                self.away.pop(arguments["client"], None)
        return {}

    def _probed(self, token: str, receiver: str) -> dict[str, Any]:
        sender = token.rpartition(".")[2]
        own = {(link.a, link.b): link.delay_ms for link in self.topology.links}
        shape = self.shapes.get((sender, receiver), Shape(own.get((sender, receiver), own.get((receiver, sender), 0))))
        if (sender, receiver) in self.lie:
            shape = Shape()
        count, size = self.sent[token]
        is_down = shape.flap_down_ms > 0 and int(token.split(".")[1]) % 2
        got = 0 if shape.cut or is_down else count - (shape.loss > 0)
        return msgspec.to_builtins(
            Arrivals(
                got=got,
                doubled=int(shape.duplicate > 0),
                overtaken=int(shape.reorder > 0),
                fastest_ms=shape.delay_ms,
                middle_ms=shape.delay_ms,
                slowest_ms=shape.delay_ms + shape.jitter_ms,
                took_ms=0 if shape.rate_kbps is None else got * size * 8 / shape.rate_kbps,
            )
        )


def made(overlay: Topology = LINE) -> tuple[PaperCluster, Ledger]:
    cluster = PaperCluster(overlay)

    def record(fault: Fault, phase: str) -> None:
        cluster.story.append(f"record {phase} {fault.id} {fault.kind} {fault.target}")

    return cluster, Ledger(ClusterLab(cluster), cluster.runtime.state, record)


def settle(ledger: Ledger, rounds: int = 60) -> list[Fault]:
    """Let time pass until nothing is open any more, or too much of it has passed."""
    done = []
    for _ in range(rounds):
        done += ledger.settle()
        if not ledger.healing and not ledger.unseen:
            break
    return done


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
    assert cluster.shapes["b2", "b1"] == Shape(50)
    ledger.heal(fault)
    assert cluster.shapes["b2", "b1"] == Shape(5)


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
    assert cluster.shapes["b2", "b3"] == Shape(20)


@pytest.mark.parametrize(
    ("first", "then"), [("kill", "pause"), ("kill", "restart"), ("kill", "stop"), ("kill", "throttle")]
)
def test_a_fault_with_nothing_to_hit_is_skipped_and_leaves_no_record(first: str, then: str) -> None:
    cluster, ledger = made()
    ledger.apply(first, "broker:b1", {})
    before = list(cluster.story)
    with pytest.raises(Skipped, match=f"{then} of b1 skipped: it is (dead|paused) already"):
        ledger.apply(then, "broker:b1", {"cpu_share": 0.5} if then == "throttle" else {})
    assert cluster.story == before
    assert list(ledger.active) == ["f1"]


def test_a_paused_broker_can_be_killed_and_both_faults_heal() -> None:
    cluster, ledger = made()
    ledger.apply("pause", "broker:b1", {})
    ledger.apply("kill", "broker:b1", {})
    ledger.heal_all()
    assert {fault.id for fault in settle(ledger)} == {"f1", "f2"}
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
    settle(ledger)
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
        ("delay", {}, "fault delay: the key `delay_ms` is missing"),
        ("delay", {"delay_ms": -1}, "fault delay: delay_ms: expected a whole number >= 0"),
        ("delay", {"delay_ms": "long"}, "fault delay"),
        ("cut", {"delay_ms": 1}, "fault cut: unknown key `delay_ms`; known: direction"),
        ("cut", {"direction": "up"}, "fault cut: .*direction"),
        ("loss", {"share": 1.5}, "fault loss: .*<= 1"),
        ("clock-skew", {}, "fault clock-skew: say rate .* or ahead_ms"),
        ("cutt", {}, "no fault `cutt`; did you mean `cut`\\?"),
    ],
)
def test_wrong_arguments_are_told_before_anything_happens(kind: str, args: dict[str, Any], told: str) -> None:
    cluster, ledger = made()
    with pytest.raises(UsageError, match=told):
        ledger.apply(kind, "link:b1-b2", args)
    assert cluster.story == []


wishes = st.builds(
    Wish,
    delay_ms=st.none() | st.integers(0, 99).map(float),
    cut=st.none() | st.booleans(),
    loss=st.none() | st.just(0.5),
    direction=st.sampled_from(["both", "forth", "back"]),
)
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
            lab.kill(Fault("k", "kill", f"broker:{what}"))
            cluster.shapes = {ends: shape for ends, shape in cluster.shapes.items() if ends[0] != what}
        elif verb == "pause" and states[what] == "running":
            lab.pause(Fault("p", "pause", f"broker:{what}"))
        elif verb == "back":
            back(lab, what, states[what])
    for broker in ("b1", "b2"):
        back(lab, broker, states[broker])
    cuts = {}
    for ends, direction in ((("b1", "b2"), "forth"), (("b2", "b1"), "back")):
        delay_ms, cut, loss = 5.0, False, 0.0
        for _, wish in asked:
            if wish.direction in ("both", direction):
                delay_ms = delay_ms if wish.delay_ms is None else wish.delay_ms
                cut = cut if wish.cut is None else wish.cut
                loss = loss if wish.loss is None else wish.loss
        cuts[ends] = (delay_ms, cut, loss)
    for ends, (delay_ms, cut, loss) in cuts.items():
        deaf = cuts[ends[::-1]][1]
        assert cluster.shapes.get(ends, Shape(5)) == Shape(delay_ms, cut, deaf, loss=loss)


def back(lab: ClusterLab, broker: str, state: NodeState) -> None:
    if state == "dead":
        lab.start(Fault("k", "kill", f"broker:{broker}"))
        assert lab.is_ready(broker)
    elif state == "paused":
        lab.resume(Fault("p", "pause", f"broker:{broker}"))


EVERY_KIND: list[tuple[str, str, dict[str, Any]]] = [
    ("kill", "broker:b2", {}),
    ("restart", "broker:b2", {}),
    ("stop", "broker:b2", {}),
    ("pause", "broker:b2", {}),
    ("pause", "client:c1", {}),
    ("client-crash", "client:c1", {}),
    ("cut", "link:b1-b2", {}),
    ("cut", "link:b1-b2", {"direction": "forth"}),
    ("partition", "link:b1-b2", {}),
    ("flap", "link:b1-b2", {"up_ms": 100, "down_ms": 100}),
    ("delay", "link:b1-b2", {"delay_ms": 100}),
    ("delay", "link:b1-b2", {"delay_ms": 100, "jitter_ms": 10}),
    ("jitter", "link:b1-b2", {"jitter_ms": 50}),
    ("loss", "link:b1-b2", {"share": 0.1}),
    ("duplicate", "link:b1-b2", {"share": 0.1}),
    ("reorder", "link:b1-b2", {"share": 0.1}),
    ("rate", "link:b1-b2", {"rate_kbps": 100}),
    ("throttle", "broker:b2", {"cpu_share": 0.2}),
    ("memory", "broker:b2", {"limit_mb": 64}),
    ("clock-skew", "broker:b2", {"rate": 2.0}),
    ("clock-skew", "broker:b2", {"ahead_ms": 5_000}),
    ("disk-full", "broker:b2", {}),
    ("isolate", "broker:b2", {}),
]


def test_every_kind_is_tried_below() -> None:
    assert {kind for kind, _, _ in EVERY_KIND} == set(faults.names())


@pytest.mark.parametrize(("kind", "target", "args"), EVERY_KIND)
def test_what_bites_is_seen_to_and_seen_to_be_gone(kind: str, target: str, args: dict[str, Any]) -> None:
    cluster, ledger = made()
    fault = ledger.apply(kind, target, args)
    settle(ledger)
    ledger.heal(fault)
    assert settle(ledger) == [fault]
    assert (ledger.doubts, ledger.unmeasured) == ([], [])
    assert cluster.story[0] == f"record apply f1 {kind} {target}"
    assert cluster.story[-1] == f"record heal f1 {kind} {target}"


LINK_KINDS = [one for one in EVERY_KIND if one[1].startswith("link:")]


@pytest.mark.parametrize(("kind", "target", "args"), LINK_KINDS)
def test_a_link_that_only_says_it_is_broken_is_doubted(kind: str, target: str, args: dict[str, Any]) -> None:
    cluster, ledger = made()
    cluster.lie = {("b1", "b2")}
    fault = ledger.apply(kind, target, args)
    settle(ledger, 200)
    (doubt,) = ledger.doubts
    assert doubt.startswith(f"f1, {kind} of b1-b2, did not bite: b1 to b2: ")
    cluster.lie.clear()
    ledger.heal(fault)
    assert settle(ledger) == [fault]


def test_a_link_that_stays_broken_is_not_healed() -> None:
    cluster, ledger = made()
    fault = ledger.apply("cut", "link:b1-b2", {})
    settle(ledger)
    ledger.heal(fault)
    cluster.shapes["b2", "b1"] = Shape(cut=True)
    assert settle(ledger) == []
    assert ledger.remaining == {"f1": "b2 to b1: only 0 of 20 frames crossed it"}


def test_what_another_fault_hides_is_no_doubt() -> None:
    _, ledger = made()
    ledger.apply("kill", "broker:b1", {})
    hidden = ledger.apply("cut", "link:b1-b2", {})
    settle(ledger)
    ledger.heal(hidden)
    assert ledger.doubts == []
    assert ledger.unmeasured == ["f2, cut of b1-b2: b1 cannot be asked"]


@pytest.mark.parametrize(
    ("kind", "args", "broken"), [("kill", {}, "dead"), ("pause", {}, "paused"), ("stop", {}, "dead")]
)
def test_a_broker_hit_twice_is_well_when_both_are_healed(kind: str, args: dict[str, Any], broken: str) -> None:
    cluster, ledger = made()
    first = ledger.apply(kind, "broker:b1", args)
    settle(ledger)
    second = ledger.apply("kill" if kind == "stop" else kind, "broker:b1", args)
    ledger.heal(first)
    settle(ledger, 3)
    assert cluster.runtime.states["b1"] == broken
    ledger.heal(second)
    assert {fault.id for fault in settle(ledger)} <= {"f1", "f2"}
    assert not ledger.healing
    assert cluster.runtime.states["b1"] == "running"


def test_strains_add_up_and_heal_one_by_one() -> None:
    cluster, ledger = made()
    slow = ledger.apply("throttle", "broker:b1", {"cpu_share": 0.5})
    slower = ledger.apply("throttle", "broker:b1", {"cpu_share": 0.1})
    ledger.apply("clock-skew", "broker:b1", {"rate": 2.0})
    assert cluster.strains["b1"] == Strain(cpu_share=0.1, clock_rate=2.0)
    ledger.heal(slower)
    assert cluster.strains["b1"] == Strain(cpu_share=0.5, clock_rate=2.0)
    ledger.heal(slow)
    assert cluster.strains["b1"] == Strain(clock_rate=2.0)


def test_a_broker_restarted_under_strain_is_put_under_it_again() -> None:
    cluster, ledger = made()
    ledger.apply("throttle", "broker:b1", {"cpu_share": 0.5})
    killed = ledger.apply("kill", "broker:b1", {})
    cluster.strains.clear()
    ledger.heal(killed)
    settle(ledger)
    assert cluster.strains["b1"] == Strain(cpu_share=0.5)


def test_a_broker_that_cannot_hand_over_is_doubted_and_waited_for() -> None:
    """Stopped all the same it would take along what nothing excuses the loss of."""
    cluster, ledger = made()
    cluster.can_leave = False
    fault = ledger.apply("stop", "broker:b1", {})
    settle(ledger, 100)
    assert cluster.runtime.states["b1"] == "running"
    assert ledger.doubts == ["f1, stop of b1, did not bite: b1 had not handed over everything after 10 s"]
    ledger.heal(fault)
    assert settle(ledger) == []
    assert ledger.remaining == {"f1": "b1 has not handed over everything"}
    cluster.can_leave = True
    assert settle(ledger) == [fault]
    assert [line for line in cluster.story if line.endswith(" b1")][-2:] == ["stop b1", "start b1"]


def test_a_broker_killed_while_it_hands_over_stays_dead_until_both_are_healed() -> None:
    cluster, ledger = made()
    cluster.can_leave = False
    stopped = ledger.apply("stop", "broker:b1", {})
    killed = ledger.apply("kill", "broker:b1", {})
    settle(ledger)
    ledger.heal(killed)
    settle(ledger, 5)
    assert cluster.runtime.states["b1"] == "dead"
    ledger.heal(stopped)
    assert {fault.id for fault in settle(ledger)} == {"f1", "f2"}
    assert cluster.runtime.states["b1"] == "running"


def test_a_paused_broker_is_asked_to_leave_when_it_goes_on() -> None:
    cluster, ledger = made()
    paused = ledger.apply("pause", "broker:b1", {})
    ledger.apply("stop", "broker:b1", {})
    assert "leave b1" not in cluster.story
    ledger.heal(paused)
    settle(ledger)
    assert [line for line in cluster.story if line in ("leave b1", "stop b1")] == ["leave b1", "stop b1"]
    assert cluster.runtime.states["b1"] == "dead"


def test_a_broker_killed_while_paused_comes_back_paused() -> None:
    cluster, ledger = made()
    paused = ledger.apply("pause", "broker:b1", {})
    killed = ledger.apply("kill", "broker:b1", {})
    ledger.heal(killed)
    settle(ledger, 5)
    assert cluster.runtime.states["b1"] == "paused"
    ledger.heal(paused)
    settle(ledger)
    assert cluster.runtime.states["b1"] == "running"
    assert not ledger.healing


def test_a_recalled_strain_is_taken_away_again() -> None:
    """Nobody but the broker knows what an earlier command told it."""
    cluster, ledger = made()
    cluster.strains["b1"] = Strain(cpu_share=0.1)
    fault = Fault("f4", "throttle", "broker:b1", {"cpu_share": 0.1})
    ledger.recall([fault])
    ledger.heal(fault)
    assert cluster.strains["b1"] == Strain()
    assert settle(ledger) == [fault]


@pytest.mark.parametrize("asked", ["shape", "strain"])
def test_who_does_not_answer_is_told_later(asked: str) -> None:
    cluster, ledger = made()
    cluster.deaf = {"b1"}
    if asked == "shape":
        fault = ledger.apply("delay", "link:b1-b2", {"delay_ms": 50})
    else:
        fault = ledger.apply("throttle", "broker:b1", {"cpu_share": 0.1})
    settle(ledger, 10)
    assert ledger.unseen == [fault]
    cluster.deaf.clear()
    settle(ledger)
    assert (ledger.unseen, ledger.doubts) == ([], [])
    assert cluster.shapes.get(("b1", "b2")) == Shape(50) or cluster.strains["b1"] == Strain(cpu_share=0.1)


def test_what_a_broker_refuses_is_undone_and_told() -> None:
    cluster, ledger = made()
    cluster.refuses = True
    with pytest.raises(BrokerlabError, match="b1 refused"):
        ledger.apply("throttle", "broker:b1", {"cpu_share": 0.1})
    cluster.refuses = False
    assert [fault.id for fault in settle(ledger)] == ["f1"]
    assert not ledger.active


def test_jumps_of_a_clock_add_up_and_none_is_a_jump_back() -> None:
    cluster, ledger = made()
    first = ledger.apply("clock-skew", "broker:b1", {"ahead_ms": 5_000})
    ledger.apply("clock-skew", "broker:b1", {"ahead_ms": 1_000})
    assert cluster.strains["b1"].clock_ahead_ms == 6_000
    ledger.heal(first)
    assert cluster.strains["b1"].clock_ahead_ms == 1_000
    settle(ledger)
    assert ledger.doubts == []


def test_a_disk_that_is_written_all_the_same_is_doubted() -> None:
    cluster, ledger = made()
    cluster.lying_strains = True
    ledger.apply("disk-full", "broker:b1", {})
    settle(ledger, 200)
    assert ledger.doubts == ["f1, disk-full of b1, did not bite: b1 still writes its log"]


def test_a_fault_too_short_to_be_measured_is_no_doubt_but_told() -> None:
    cluster, ledger = made()
    cluster.lie = {("b1", "b2")}
    ledger.heal(ledger.apply("cut", "link:b1-b2", {}))
    assert ledger.doubts == []
    assert ledger.unmeasured == ["f1, cut of b1-b2: it was over too soon to be sure"]


def test_a_short_fault_that_was_twice_seen_not_to_bite_is_doubted() -> None:
    cluster, ledger = made()
    cluster.lie = {("b1", "b2")}
    fault = ledger.apply("cut", "link:b1-b2", {})
    settle(ledger, 6)
    ledger.heal(fault)
    assert ledger.doubts == ["f1, cut of b1-b2, did not bite: b1 to b2: 20 of 20 frames crossed it"]


def test_a_delay_under_a_cut_is_not_taken_for_seen() -> None:
    _, ledger = made()
    ledger.apply("cut", "link:b1-b2", {})
    settle(ledger)
    hidden = ledger.apply("delay", "link:b1-b2", {"delay_ms": 50})
    settle(ledger, 100)
    assert ledger.unseen == [hidden]
    ledger.heal(hidden)
    assert ledger.doubts == []
    assert ledger.unmeasured == ["f2, delay of b1-b2: another fault has cut the link"]


def test_a_link_is_healed_while_an_end_of_it_is_dead() -> None:
    cluster, ledger = made()
    fault = ledger.apply("delay", "link:b1-b2", {"delay_ms": 50})
    settle(ledger)
    killed = ledger.apply("kill", "broker:b1", {})
    ledger.heal(fault)
    assert settle(ledger) == [fault]
    cluster.shapes = {ends: shape for ends, shape in cluster.shapes.items() if ends[0] != "b1"}
    ledger.heal(killed)
    assert settle(ledger) == [killed]
    assert cluster.shapes.get(("b1", "b2"), Shape()) == Shape()


def test_a_broker_that_died_under_strain_is_not_under_it_any_more() -> None:
    cluster, ledger = made()
    fault = ledger.apply("memory", "broker:b1", {"limit_mb": 8})
    cluster.runtime.states["b1"] = "dead"
    ledger.heal(fault)
    assert settle(ledger) == [fault]


def test_a_broker_that_other_faults_keep_from_its_neighbours_is_not_waited_for() -> None:
    cluster, ledger = made()
    killed = ledger.apply("kill", "broker:b2", {})
    cut = ledger.apply("cut", "link:b1-b2", {})
    cluster.ready.discard("b2")
    ledger.heal(killed)
    assert settle(ledger, 5) == []
    assert ledger.hidden == {"f1": "b2 waits for b1, and other faults are in between"}
    ledger.heal(cut)
    cluster.ready.add("b2")
    assert {fault.id for fault in settle(ledger)} == {"f1", "f2"}
    assert ledger.hidden == {}


def test_what_an_earlier_command_began_to_heal_is_healed_to_the_end() -> None:
    """It asks for nothing any more, but nobody knows whether its broker has heard of that."""
    cluster, ledger = made()
    cluster.shapes["b2", "b1"] = Shape(cut=True, deaf=True)
    fault = Fault("f4", "cut", "link:b1-b2")
    ledger.recall([], [fault])
    assert settle(ledger) == [fault]
    assert cluster.shapes["b2", "b1"] == Shape()
