from __future__ import annotations

import json
from math import prod
from pathlib import Path

import pytest

from controller import topology, yamlfile
from controller.errors import UsageError
from controller.topology import Broker, Link, Topology
from controller.topology.files import resolve

HEAD = "description: d\n"


def made(text: str) -> Topology:
    return resolve(yamlfile.parse(text, "t.yaml"), "t")


@pytest.mark.parametrize("name", topology.names())
def test_every_ready_topology_loads(name: str) -> None:
    one = topology.load(name)
    assert one.name == name
    assert one.description
    assert len(one.brokers) == prod(map(int, name.rpartition("-")[2].split("x")))
    assert len(one.tree) == len(one.brokers) - 1


def test_the_ready_ones_are_there() -> None:
    assert {"line-3", "star-5", "tree-13", "ring-6"} <= set(topology.names())


def test_tree_13_is_a_root_with_three_inner_brokers_with_three_leaves_each() -> None:
    tree = topology.load("tree-13")
    assert len(tree.links) == 12
    assert [len(tree.neighbours(name)) for name in tree.neighbours("root")] == [4, 4, 4]
    assert sum(broker.role == "leaf" for broker in tree.brokers) == 9


def test_short_and_long_forms_and_the_defaults() -> None:
    brokers = "brokers: {b1: {role: edge}, b2: , b3: {group: g}}\n"
    one = made(HEAD + brokers + "links: [b1-b2, {a: b2, b: b3, delay_ms: 2.5, weight: 3}]")
    assert one.brokers == (Broker("b1", "edge", "b1"), Broker("b2", "inner", "b2"), Broker("b3", "leaf", "g"))
    assert one.links == (Link("b1", "b2", 0, 1), Link("b2", "b3", 2.5, 3))
    assert one.neighbours("b2") == ("b1", "b3")
    assert one.link("b3-b2") is one.link("b2-b3")


def test_a_single_broker_is_an_overlay() -> None:
    assert made(HEAD + "brokers: [b1]").brokers == (Broker("b1", "leaf", "b1"),)


def test_to_json_is_the_contract_and_comes_back() -> None:
    one = made(HEAD + "brokers: {b1: {group: g}, b2: }\nlinks: [b1-b2]")
    written = json.loads(json.dumps(one.to_json()))
    assert written == one.to_json()
    assert written["brokers"] == [
        {"name": "b1", "role": "leaf", "group": "g"},
        {"name": "b2", "role": "leaf", "group": "b2"},
    ]
    ways = {"delay_ms": 0, "jitter_ms": 0, "loss": 0, "rate_kbps": None}
    assert written["links"] == [{"a": "b1", "b": "b2", "weight": 1, **ways}]
    assert topology.from_json({**written, "more": 1}) == one


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("brokers: [b1, b1]", "t.yaml:2:15: broker `b1` is listed twice"),
        ("brokers: []", "t.yaml:2:10: there is no broker"),
        ("brokers: [b.1]", "t.yaml:2:11: `b.1` cannot be a broker's name; use letters"),
        ("brokers: {a/b: }", "`a/b` cannot be a broker's name"),
        ("brokers: ['a:b']", "`a:b` cannot be a broker's name"),
        ("brokers: [a-b]", "`a-b` cannot be a broker's name"),
        ("brokers: [gateway]", "`gateway` cannot be a broker's name: brokerlab itself uses it"),
        ("brokers: [c12]", "`c12` cannot be a broker's name: brokerlab itself uses it"),
        ("brokers: [b1, B1]", "t.yaml:2:15: `B1` and `b1` differ only in case"),
        ("brokers: [b1, b2]\nlinks: [b1-b3]", "t.yaml:3:9: no broker `b3`; known: b1, b2"),
        ("brokers: [b1, b2]\nlinks: [b1-b1]", "t.yaml:3:9: `b1-b1` links a broker to itself"),
        ("brokers: [b1, b2]\nlinks: [b1-b2, {a: b2, b: b1}]", "t.yaml:3:16: `b2-b1` is linked a second time"),
        ("brokers: [b1, b2]\nlinks: [b1b2]", "t.yaml:3:9: `b1b2` is not a link; write `b1-b2`"),
        ("brokers: [b1, b2, b3]\nlinks: [b1-b2]", "t.yaml:3:8: no way from b1 to b3; add a link"),
        ("brokers: [b1, b2]\nlinks: [{a: b1, b: b2, delay_ms: -1}]", "t.yaml:3:34: expected a whole number >= 0"),
        ("brokers: [b1, b2]\nlinks: [{a: b1, b: b2, weight: 0}]", "t.yaml:3:32: expected a whole number"),
        ("brokers: [b1, b2]\nlinks: [{a: b1, b: b2, delay: 1}]", "unknown key `delay`; did you mean `delay_ms`?"),
        ("brokers: {b1: {role: b1}}", "`b1` is a broker and a role"),
        ("brokers: {b1: {role: 'x y'}}", "t.yaml:2:22: `x y` cannot be a role's name"),
        ("brokers: {b1: {group: b2}, b2: }\nlinks: [b1-b2]", "group `b2` has the name of a broker outside it"),
    ],
)
def test_what_is_wrong_is_told_with_what_would_be_right(text: str, told: str) -> None:
    with pytest.raises(UsageError) as caught:
        made(HEAD + text)
    assert told in str(caught.value)


def test_a_description_is_one_line() -> None:
    with pytest.raises(UsageError, match=r"t.yaml:1:14: the description should be one line"):
        made("description: |\n  a\n  b\nbrokers: [b1]")


def test_unknown_names_are_answered_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"no topology `tre-13`; did you mean `tree-13`\? known: .*line-3"):
        topology.load("tre-13")
    line = topology.load("line-3")
    with pytest.raises(UsageError, match=r"no broker `b9` in line-3; .*known: b1, b2, b3"):
        line.broker("b9")
    with pytest.raises(UsageError, match=r"no link `b1-b3` in line-3; .*known: b1-b2, b2-b3"):
        line.link("b1-b3")


def test_a_path_is_loaded_too(tmp_path: Path) -> None:
    path = tmp_path / "pair.yaml"
    path.write_text(HEAD + "brokers: [a, b]\nlinks: [a-b]")
    assert topology.load(path).name == "pair"
    with pytest.raises(UsageError, match=r"none.yaml: cannot be read"):
        topology.load(str(tmp_path / "none.yaml"))
