"""One message after the other: what its hops were, beside what they had to be. No Spark."""

from __future__ import annotations

from random import Random

import networkx as nx
import pyarrow as pa

from controller.audit.overlay import Link, Overlay
from controller.audit.routes import (
    AGAIN,
    ASTRAY,
    FALSE_POSITIVE,
    FORWARDED,
    HANDLED,
    LOOP,
    PUBLISHED,
    STRANGE,
    UNFORWARDED,
    UNHANDLED,
    WANTED,
    Judge,
    Step,
    _messages,
)

# b1 - b2 - b3, and b4 beside b2
TREE = Overlay(["b1", "b2", "b3", "b4"], [Link("b1", "b2"), Link("b2", "b3"), Link("b2", "b4")], True)
RING = Overlay(["b1", "b2", "b3"], [Link("b1", "b2"), Link("b2", "b3"), Link("b1", "b3")], False)
AT_B1 = [Step(PUBLISHED, "p", "b1", 1), Step(HANDLED, "p", "b1", 1)]


def wanted(*brokers: str, t: int = 0) -> list[Step]:
    return [Step(WANTED, None, broker, t) for broker in brokers]


def hop(a: str, b: str, t: int = 10) -> list[Step]:
    return [Step(FORWARDED, a, b, t), Step(HANDLED, a, b, t + 1)]


def told(steps: list[Step], overlay: Overlay = TREE) -> list[tuple[str, str, str, int]]:
    judge = Judge(overlay)
    judge.judge("p:1", sorted(steps, key=lambda step: step.t))
    return sorted((what, a, b, count) for what, _, a, b, _, count, _ in judge.found)


def test_the_ideal_tree_is_right() -> None:
    assert told([*AT_B1, *wanted("b3", "b1"), *hop("b1", "b2"), *hop("b2", "b3")]) == []


def test_towards_nobody() -> None:
    steps = [*AT_B1, *wanted("b3", "b1"), *hop("b1", "b2"), *hop("b2", "b3"), *hop("b2", "b4")]
    assert told(steps) == [(FALSE_POSITIVE, "b2", "b4", 1)]


def test_somebody_who_asked_later_was_nobody_then() -> None:
    steps = [*AT_B1, *wanted("b3"), *wanted("b4", t=11), *hop("b1", "b2"), *hop("b2", "b3"), *hop("b2", "b4")]
    assert told(steps) == [(FALSE_POSITIVE, "b2", "b4", 1)]
    assert told([*AT_B1, *wanted("b2", t=10), *hop("b1", "b2")]) == [], "equal times order nothing"


def test_a_hop_that_is_taken_twice() -> None:
    steps = [*AT_B1, *wanted("b2"), *hop("b1", "b2"), *hop("b1", "b2", 20)]
    assert told(steps) == [(AGAIN, "b1", "b2", 1), (LOOP, "b1", "b2", 2)]


def test_back_to_where_it_came_from() -> None:
    steps = [*AT_B1, *wanted("b1", "b2"), *hop("b1", "b2"), *hop("b2", "b1", 20)]
    assert told(steps) == [(ASTRAY, "b2", "b1", 1), (LOOP, "b2", "b1", 2)]
    steps = [*AT_B1, *wanted("b2"), *hop("b1", "b2"), *hop("b2", "b1", 20)]
    assert told(steps) == [(FALSE_POSITIVE, "b2", "b1", 1), (LOOP, "b2", "b1", 2)]


def test_where_no_link_is() -> None:
    assert told([*AT_B1, *wanted("b3"), *hop("b1", "b3")]) == [(STRANGE, "b1", "b3", 1)]


def test_around_a_ring_a_message_may_come_once_from_each_side() -> None:
    steps = [*AT_B1, *wanted("b2", "b3"), *hop("b1", "b2"), *hop("b1", "b3"), *hop("b2", "b3")]
    assert [one[0] for one in told(steps, RING)] == [ASTRAY], "more than the shortest way; the check knows"
    assert (LOOP, "b1", "b2", 2) in told([*steps, *hop("b1", "b2", 20)], RING)


def test_sent_and_never_handled() -> None:
    assert told([*AT_B1, *wanted("b2"), Step(FORWARDED, "b1", "b2", 10)]) == [(UNHANDLED, "b1", "b2", 1)]
    assert told([Step(PUBLISHED, "p", "b1", 1)]) == [(UNHANDLED, "p", "b1", 1)]


def test_handled_and_never_sent() -> None:
    assert told([*AT_B1, Step(HANDLED, "b2", "b3", 10)]) == [(UNFORWARDED, "b2", "b3", 1)]


def test_who_moves_may_be_taken_in_elsewhere() -> None:
    assert told([Step(PUBLISHED, "p", "b1", 1), Step(HANDLED, "p", "b3", 2)]) == []


def test_a_message_that_nobody_published_is_wanted_by_nobody() -> None:
    assert told(hop("b1", "b2")) == [(FALSE_POSITIVE, "b1", "b2", 1)]


def test_the_totals_of_a_link() -> None:
    judge = Judge(TREE)
    judge.judge("p:1", [*wanted("b2"), *AT_B1, *hop("b1", "b2"), *hop("b2", "b3")])
    judge.judge("p:2", [*wanted("b2"), *AT_B1, *hop("b1", "b2")])
    assert [(a, b, count, needed) for _, _, a, b, _, count, needed in judge.totals()] == [
        ("b1", "b2", 2, 2), ("b2", "b3", 1, 0)]  # fmt: skip


def test_messages_go_on_over_batches() -> None:
    steps = [("m1", 0), ("m1", 1), ("m2", 2), ("m2", 3), ("m3", 4)]
    for cut in range(len(steps) + 1):
        batches = [
            pa.RecordBatch.from_pylist([{"msg": m, "tag": 0, "a": None, "b": "b1", "t": t} for m, t in part])
            for part in (steps[:cut], steps[cut:])
            if part
        ]
        found = {msg: [step.t for step in told] for msg, told in _messages(batches)}
        assert found == {"m1": [0, 1], "m2": [2, 3], "m3": [4]}


def test_false_positives_against_a_naive_reading() -> None:
    rng = Random(7)
    for _ in range(200):
        compare_with_a_naive_reading(rng)


def compare_with_a_naive_reading(rng: Random) -> None:
    brokers = [f"b{i}" for i in range(rng.randint(2, 7))]
    whole = nx.Graph()
    whole.add_nodes_from(brokers)
    for number, broker in enumerate(brokers[1:], 1):
        whole.add_edge(broker, rng.choice(brokers[:number]))
    for _ in range(rng.choice([0, 0, 3])):
        a, b = rng.sample(brokers, 2)
        whole.add_edge(a, b)
    overlay = Overlay(brokers, [Link(a, b) for a, b in whole.edges], False)
    asked = [(rng.choice(brokers), rng.randint(0, 9)) for _ in range(rng.randint(0, 3))]
    hops = [(*rng.choice([(a, b), (b, a)]), rng.randint(0, 9)) for a, b in rng.choices(list(whole.edges), k=6)]
    steps = [Step(WANTED, None, broker, t) for broker, t in asked]
    steps += [Step(FORWARDED, a, b, t) for a, b, t in hops]
    judge = Judge(overlay)
    judge.judge("p:1", sorted(steps, key=lambda step: step.t))
    expected = []
    for a, b, t in hops:
        without = whole.copy()
        without.remove_node(a)
        behind = nx.node_connected_component(without, b)
        if not any(broker in behind and asked_t <= t for broker, asked_t in asked):
            expected.append((a, b, t))
    assert sorted(row[2:5] for row in judge.found if row[0] == FALSE_POSITIVE) == sorted(expected)
