"""How a node starts and ends: what it says, and with which status."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.lab import ROOT, Lab, until
from tests.integration.test_node_relay import attach, publish


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "node", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=20, check=False)


def test_help_names_the_roles_and_the_statuses() -> None:
    done = run("--help")
    assert done.returncode == 0
    for word in ("broker", "driver", "gateway", "64", "69", "70", "docs/design.md"):
        assert word in done.stdout


@pytest.mark.parametrize("arguments", [(), ("waiter",), ("broker",), ("broker", "--config", "/does/not/exist.json")])
def test_wrong_use_is_one_line_and_64(arguments: tuple[str, ...]) -> None:
    done = run(*arguments)
    assert done.returncode == 64
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("role", "node", "change", "hint"),
    [
        ("broker", "b1", {"scheme": "magic"}, "known are"),
        ("broker", "b1", {"parameters": {"speed": 1}}, "speed"),
        ("broker", "b1", {"keys": "/none"}, "/none cannot be read"),
        ("broker", "b1", {"bind": {}}, "bind.peers is missing"),
        ("broker", "b1", {"endpoints": {}}, "endpoints.b2.peers is missing"),
        ("broker", "b1", {"node": "b7"}, "b7 is not in its topology"),
        ("driver", "driver1", {"plan": "/none"}, "/none cannot be read"),
        ("driver", "driver1", {"scheme": "magic"}, "known are"),
        ("gateway", "gateway", {"bind": {}}, "bind.gateway is missing"),
    ],
)
def test_a_wrong_configuration_is_one_line_and_64(
    tmp_path: Path, role: str, node: str, change: dict[str, object], hint: str
) -> None:
    with Lab(tmp_path) as lab:
        lab.plan()
        path = lab.configure(node, role)
        path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
        done = run(role, "--config", str(path))
        assert (done.returncode, len(done.stderr.splitlines())) == (64, 1), done.stderr
        assert hint in done.stderr
        assert not list(lab.logs_dir.iterdir()), "nothing is left behind"


def test_an_endpoint_in_use_is_one_line_and_69(tmp_path: Path) -> None:
    with Lab(tmp_path) as lab:
        lab.start("b1")
        until(lambda: lab.ask("b1", "status"), "b1 answers")
        done = run("broker", "--config", str(tmp_path / "b1.json"))
        assert (done.returncode, len(done.stderr.splitlines())) == (69, 1), done.stderr
        assert "cannot listen" in done.stderr and "in use" in done.stderr


def test_a_broken_invariant_is_found_at_the_end_and_told(tmp_path: Path) -> None:
    with Lab(tmp_path, scheme="tests.integration.odd_schemes:BrokenTable") as lab:
        lab.start("b1")
        until(lambda: lab.ask("b1", "status"), "b1 answers")
        assert lab.terminate("b1") == 70
        assert "two and two are five" in lab.stderr("b1")
        assert not lab.log("b1", "close")


@pytest.mark.parametrize(
    ("scheme", "words"),
    [
        ("ToNobody", ["which is not there", "last inputs", "c1:1"]),
        ("Crashing", ["ZeroDivisionError", "a plain mistake"]),
    ],
)
def test_a_mistake_of_ours_stops_the_broker_with_the_story(tmp_path: Path, scheme: str, words: list[str]) -> None:
    with Lab(tmp_path, links=[("b1", "b2")], scheme=f"tests.integration.odd_schemes:{scheme}") as lab:
        lab.plan(attach("c1", "b1"), publish("warm", "c1", 1))
        lab.start_all()
        lab.play("warm")
        assert lab.exit_status("b1") == 70
        for word in words:
            assert word in lab.stderr("b1")
        assert lab.is_running("b2") and not lab.log("b1", "close")


def test_a_broker_whose_disk_is_full_still_lets_in_who_can_heal_it(tmp_path: Path) -> None:
    """Each request comes over a connection of its own: somebody has to answer for its key."""
    with Lab(tmp_path, [("b1", "b2")]) as lab:
        lab.start("b1", "b2")
        lab.wait_ready("b1", "b2")
        lab.must("b1", "strain", strain={"disk_full": True})
        until(lambda: lab.must("b1", "status")["stalled"], "the log takes nothing more")
        lab.must("b1", "strain", strain={})
        until(lambda: not lab.must("b1", "status")["stalled"], "the log takes what waited")
