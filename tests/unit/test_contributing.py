"""What CONTRIBUTING shows is there, and works as shown; its check is tried in tests/audit/test_contributing.py."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from controller import faults
from tests.simulation.net import Wire
from tests.simulation.story import TREES, Story
from tests.unit import test_faults

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text()
SHOWN = dict(re.findall(r"For example, `([\w/.]+)`:\n\n```python\n(.*?)```", TEXT, re.DOTALL))


def example(path: str) -> dict[str, Any]:
    """The module that the text shows under this path."""
    found: dict[str, Any] = {"__name__": Path(path).stem}
    exec(compile(SHOWN[path], path, "exec"), found)
    return found


def test_everything_it_points_to_is_there() -> None:
    paths = (
        set(re.findall(r"`((?:node|controller|tests|docs)/[\w/.-]+)`", TEXT))
        - set(SHOWN)
        - {"node/core/schemes/NAME.py"}
    )
    assert len(paths) > 20
    assert [path for path in sorted(paths) if not (ROOT / path).exists()] == []


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("node/core/schemes/registry.py", "_OURS"),
        ("tests/simulation/test_schemes.py", "SCHEMES"),
        ("controller/audit/checks/__init__.py", "CHECKS"),
        ("controller/audit/report/words.py", "CHECKS"),
        ("controller/audit/promise.py", "DEATHS"),
        ("controller/faults/lab.py", "class ClusterLab"),
        ("controller/commands/fault.py", "def _command"),
        ("controller/audit/checks/spurious.py", "verdict_unless"),
        ("controller/audit/checks/spurious.py", "evidence.untold"),
        ("tests/integration/lab.py", "def until"),
    ],
)
def test_the_names_it_gives_are_where_it_says(path: str, name: str) -> None:
    assert f"`{path}`" in TEXT and name.rpartition(" ")[2] in TEXT
    assert name in (ROOT / path).read_text()


def test_the_scheme_it_points_to_keeps_its_promise(monkeypatch: pytest.MonkeyPatch) -> None:
    (shown,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "write-a-scheme.md").read_text(), re.DOTALL)
    module = ModuleType("shown_scheme")
    exec(compile(shown, "verbatim.py", "exec"), module.__dict__)
    monkeypatch.setitem(sys.modules, "shown_scheme", module)
    told = Story("shown_scheme:Verbatim", TREES[2], 7, Wire(loss=0.1, double=0.1))
    for kind, i, j in [
        ("subscribe", 1, 2), ("subscribe", 3, 2), ("publish", 2, 1), ("settle", 0, 0), ("publish", 4, 3),
        ("unsubscribe", 0, 0), ("kill", 1, 0), ("run", 9, 0), ("start", 1, 0), ("settle", 0, 0), ("publish", 0, 5),
    ]:  # fmt: skip
        told.play(kind, i, j)
    told.finish()
    assert told.net.brokers["b2"].scheme.name == "verbatim"
    assert told.net.history.deliveries


def test_its_fault_passes_the_test_it_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = example("controller/faults/satellite.py")["Satellite"]()
    monkeypatch.setitem(faults._KINDS, kind.kind, kind)
    shown = re.search(r"```python\n(def test_a_satellite.*?)```", TEXT, re.DOTALL)
    assert shown
    namespace = dict(vars(test_faults))
    exec(shown[1], namespace)
    namespace["test_a_satellite_slows_both_ways_and_heals_to_the_topologys_delay"]()
