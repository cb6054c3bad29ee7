from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from node.config import read_config
from node.errors import ConfigError
from node.plan import Publish, read_plan
from node.site import build_site


def config(where: Path, **changes: Any) -> Path:
    content = {
        "node": "b2",
        "cluster": "demo",
        "logs": str(where),
        "keys": "keys.json",
        "scheme": "simple",
        "topology": {
            "name": "ring-3",
            "brokers": [{"name": "b1", "role": "inner", "group": "g"}, {"name": "b2", "role": "edge"}, {"name": "b3"}],
            "links": [
                {"a": "b1", "b": "b2", "delay_ms": 5},
                {"a": "b3", "b": "b2", "weight": 9},
                {"a": "b1", "b": "b3"},
            ],
        },
        "endpoints": {"b1": {"peers": "ipc://@x"}},
        "bind": {"peers": "ipc://@y"},
        **changes,
    }
    path = where / "node.json"
    path.write_text(json.dumps(content))
    return path


def test_the_site_is_what_the_topology_says(tmp_path: Path) -> None:
    read = read_config(str(config(tmp_path)))
    site = build_site(read, 1)
    assert [(n.name, n.weight, n.group, n.in_tree) for n in site.neighbours] == [
        ("b1", 1, "g", True),
        ("b3", 9, None, False),
    ]
    assert (site.broker, site.role, site.brokers) == ("b2", "edge", ("b1", "b2", "b3"))
    assert [port.name for port in site.tree_ports] == ["b1"]
    assert [(name, link.delay_ms) for name, link in read.neighbours()] == [("b1", 5), ("b3", 0)]


def test_chance_is_the_same_for_the_same_incarnation(tmp_path: Path) -> None:
    read = read_config(str(config(tmp_path)))
    draws = [build_site(read, inc).chance.random() for inc in (1, 1, 2)]
    assert draws[0] == draws[1] != draws[2]


def test_endpoints_are_found_or_missed_by_name(tmp_path: Path) -> None:
    read = read_config(str(config(tmp_path)))
    assert read.reach("b1", "peers") == "ipc://@x" and read.bound("peers") == "ipc://@y"
    with pytest.raises(ConfigError, match=r"bind\.admin is missing"):
        read.bound("admin")
    for node in ("b1", "b9"):
        with pytest.raises(ConfigError, match=f"endpoints.{node}.clients is missing"):
            read.reach(node, "clients")


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"node": "b.2"}, "no name for a node"),
        ({"node": 7}, "not valid: Expected `str`, got `int` - at `\\$.node`"),
        ({"logs": "/does/not/exist"}, "does not exist"),
        (
            {"topology": {"brokers": [{"name": "b2"}], "links": [{"a": "b2", "b": "b7"}]}},
            "ends at b7, which is no broker",
        ),
        ({"topology": {"brokers": [{"name": "b2"}, {"name": "b2"}]}}, "named twice"),
        ({"topology": {"brokers": [{"name": "b2"}], "links": [{"a": "b2", "b": "b2"}]}}, "between two brokers"),
    ],
)
def test_a_wrong_configuration_is_told_in_one_line(tmp_path: Path, changes: dict[str, Any], why: str) -> None:
    with pytest.raises(ConfigError, match=why) as caught:
        read_config(str(config(tmp_path, **changes)))
    assert "\n" not in str(caught.value)


def test_a_broker_must_be_in_its_topology(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="b9 is not in its topology; the brokers there are: b1, b2, b3"):
        build_site(read_config(str(config(tmp_path, node="b9"))), 1)


def test_a_file_that_is_not_there_or_not_json_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        read_config(str(tmp_path / "none.json"))
    for content in (b"{", b"\xff\xfe", b"[]"):
        (tmp_path / "wrong.json").write_bytes(content)
        with pytest.raises(ConfigError, match="is not valid"):
            read_config(str(tmp_path / "wrong.json"))


def test_a_plan_is_sorted_by_time_within_a_phase_and_wrong_lines_are_named(tmp_path: Path) -> None:
    path = tmp_path / "plan.jsonl"
    lines = [{"phase": "load", "at_ms": at, "op": "publish", "client": c, "content": {"x": 1}} for at, c in
             ((5, "c1"), (1, "c2"), (5, "c3"))]  # fmt: skip
    path.write_text("\n".join(map(json.dumps, lines)) + "\n\n")
    plan = read_plan(str(path))
    assert [operation.client for operation in plan["load"]] == ["c2", "c1", "c3"]
    assert all(isinstance(operation, Publish) for operation in plan["load"])
    path.write_text(json.dumps(lines[0]) + '\n{"phase": "load", "at_ms": 1, "op": "dance", "client": "c1"}\n')
    with pytest.raises(ConfigError, match=r"line 2: .*dance"):
        read_plan(str(path))
    assert read_plan(None) == {}
