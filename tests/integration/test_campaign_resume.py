"""A controller that is killed in mid-campaign: what it left is found by name, and the series is gone on with."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.integration.commands import Here, traces, unique, until_line
from tests.integration.lab import until

CAMPAIGN = """name: {name}
topology: line-3
scheme: simple
workload: {{kind: attributes, subscriptions: 12, rate_hz: 20, clients: 6}}
phases: {{warm_s: 0, load_s: {load_s}}}
matrix: {{seed: [1, 2, 3]}}
"""


def record(here: Here) -> dict[str, Any]:
    (path,) = (here.directory / "runs").glob("*-series/series.json")
    told: dict[str, Any] = json.loads(path.read_text())
    return told


def states(here: Here) -> list[str]:
    return [one["state"] for one in record(here)["runs"]]


@pytest.mark.slow
def test_a_killed_campaign_is_resumed_and_ends_with_verdicts(tmp_path: Path) -> None:
    here = Here(tmp_path)
    name = unique("killed")
    (tmp_path / "c.yaml").write_text(CAMPAIGN.format(name=name, load_s=2))
    with here.started("campaign", "run", "c.yaml", "--runtime", "process") as running:
        until_line(running.stderr, "1/3 seed=1: pass")
        until_line(running.stderr, "load 0/2")
        running.send_signal(signal.SIGKILL)
        running.wait()
    assert states(here) == ["done", "running", "waiting"]
    (left,) = traces(name)
    assert sorted(left.nodes) == ["b1", "b2", "b3", "driver1", "gateway"]
    (tmp_path / "c.yaml").unlink()

    done = here.launch("campaign", "resume")
    assert f"removed what was left of {left.name}" in done.stderr
    assert traces(name) == []
    told = record(here)["runs"]
    assert [(one["state"], one["outcome"], one["verdict"]) for one in told] == [("done", "complete", "pass")] * 3
    assert told[1]["directory"] != left.directory.name
    assert json.loads((left.directory / "run.json").read_text())["outcome"] == "interrupted"
    assert "no unfinished series" in here.complaint("campaign", "resume")


def test_workers_end_with_their_killed_controller(tmp_path: Path) -> None:
    here = Here(tmp_path)
    # Long enough in any case: it is killed as soon as the runs have begun.
    (tmp_path / "c.yaml").write_text(CAMPAIGN.format(name="deserted", load_s=3000))
    with here.started("campaign", "run", "c.yaml", "--runtime", "sim", "--jobs", "2", "--no-audit") as running:
        until(lambda: len(here.runs()) == 2, "two runs have begun", 30)
        children = [int(pid) for pid in Path(f"/proc/{running.pid}/task/{running.pid}/children").read_text().split()]
        assert len(children) >= 2
        running.send_signal(signal.SIGKILL)
        running.wait()
    until(lambda: not any(alive(pid) for pid in children), "the workers have ended", 20)
    assert states(here) == ["running", "running", "waiting"]


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_an_interrupt_of_a_parallel_campaign_leaves_a_series_to_go_on_with(tmp_path: Path) -> None:
    here = Here(tmp_path)
    (tmp_path / "c.yaml").write_text(CAMPAIGN.format(name="stopped", load_s=3000))
    with here.started("campaign", "run", "c.yaml", "--runtime", "sim", "--jobs", "2", "--no-audit") as running:
        until(lambda: len(here.runs()) == 2, "two runs have begun", 30)
        running.send_signal(signal.SIGINT)
        _, err = running.communicate(timeout=60)
        assert running.returncode == 130, err
    assert "goes on from here" in err
    assert states(here) == ["waiting"] * 3
