from __future__ import annotations

import json

import pytest

from controller import cli, topology
from node.core.schemes import registry


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert cli.run(arguments) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out


def test_list_has_every_topology_with_its_description(capsys: pytest.CaptureFixture[str]) -> None:
    table = shown(capsys, "topology", "list")
    for name in topology.names():
        assert name in table
        assert topology.load(name).description in table
    rows = json.loads(shown(capsys, "topology", "list", "--format", "json"))
    assert [row["name"] for row in rows] == topology.names()


def test_a_tree_is_drawn_from_its_middle(capsys: pytest.CaptureFixture[str]) -> None:
    lines = shown(capsys, "topology", "show", "tree-13").splitlines()
    assert "root  inner" in lines
    assert "├── north  inner" in lines
    assert "│   └── north3  leaf" in lines
    assert "13 brokers, 12 links: a tree" in lines


def test_links_off_the_tree_are_listed_beneath(capsys: pytest.CaptureFixture[str]) -> None:
    drawn = shown(capsys, "topology", "show", "ring-6")
    assert drawn.split("also linked:\n")[1].splitlines()[0].strip() == "b4-b5"
    assert "6 brokers, 6 links: not a tree; the overlay's own tree leaves out 1 link" in drawn


def test_remarks_on_links_and_groups(capsys: pytest.CaptureFixture[str], tmp_path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "pair.yaml"
    path.write_text("description: two\nbrokers: {x: , y: {group: g}}\nlinks: [{a: x, b: y, delay_ms: 5, weight: 2}]\n")
    assert "└── y  leaf  group g  5 ms  weight 2" in shown(capsys, "topology", "show", str(path))
    assert '"x" -- "y" [style=solid, label="5 ms"];' in shown(capsys, "topology", "show", str(path), "--format", "dot")


@pytest.mark.parametrize("name", topology.names())
def test_dot_and_json_name_every_broker_and_link(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    one = topology.load(name)
    dot = shown(capsys, "topology", "show", name, "--format", "dot")
    assert dot.startswith(f'graph "{name}" {{')
    assert dot.count(" -- ") == len(one.links)
    assert dot.count("style=dashed") == len(one.links) - len(one.tree)
    assert json.loads(shown(capsys, "topology", "show", name, "--format", "json")) == one.to_json()


def test_scheme_list_tells_promise_and_needs(capsys: pytest.CaptureFixture[str]) -> None:
    rows = {row["name"]: row for row in json.loads(shown(capsys, "scheme", "list", "--format", "json"))}
    assert list(rows) == registry.names()
    assert rows["flooding"]["declares"] == ["extra-traffic"]
    assert rows["covering-active"]["promise"] == "self-healing"
    assert "advertisements" in rows["covering-active"]["needs"]
    table = shown(capsys, "scheme", "list")
    assert all(row["summary"] in table for row in rows.values())
