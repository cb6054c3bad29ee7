"""`campaign replay`: a run again from its directory, whatever became of its file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from controller.workloads import plans
from tests.integration.commands import Here, traces, unique

CAMPAIGN = """name: {name}
topology: ./bad.yaml
scheme: covering-active
workload: {{kind: attributes, subscriptions: 12, rate_hz: 30, churn_hz: 5, clients: 6}}
faults:
  - {{kind: duplicate, target: "link:*", share: 0.3, at_s: 0.1, for_s: 0.8}}
  - {{kind: kill, target: "broker:random:1", at_s: 0.6, for_s: 0.5}}
phases: {{warm_s: 0, load_s: {load_s}}}
"""
TOPOLOGY = (
    "description: three on bad links\nbrokers: [b1, b2, b3]\nlinks: [{a: b1, b: b2, loss: 0.1}, {a: b2, b: b3}]\n"
)


def made(here: Here, runtime: str, name: str = "again", load_s: float = 2) -> Path:
    """A run whose campaign and topology files are gone."""
    (here.directory / "bad.yaml").write_text(TOPOLOGY)
    (here.directory / "c.yaml").write_text(CAMPAIGN.format(name=name, load_s=load_s))
    here.run("campaign", "run", "c.yaml", "--runtime", runtime, "--seed", "5", "--no-audit")
    for file in ("c.yaml", "bad.yaml"):
        (here.directory / file).unlink()
    (run,) = here.runs()
    return run


def run_json(run: Path) -> dict[str, Any]:
    told: dict[str, Any] = json.loads((run / "run.json").read_text())
    return told


def test_a_simulated_run_comes_out_the_same_to_the_byte(tmp_path: Path) -> None:
    here = Here(tmp_path)
    run = made(here, "sim")
    done = here.run("campaign", "replay", str(run))
    assert done.stdout.startswith("the same to the byte: ")
    (again,) = set(here.runs()) - {run}
    assert run_json(again)["command"] == f"brokerlab campaign replay {run}"
    kept = ("seed", "scheme", "faults", "phases", "workload", "sim", "outcome")
    assert {key: run_json(again)[key] for key in kept} == {key: run_json(run)[key] for key in kept}
    third = here.json("campaign", "replay", str(again))
    assert third["same"] and third["difference"] is None and third["lines"] > 100


def test_the_first_line_that_differs_is_named_and_a_change_of_version_is_told(tmp_path: Path) -> None:
    here = Here(tmp_path)
    run = made(here, "sim")
    log = run / "logs" / "b2.1.jsonl"
    lines = log.read_text().splitlines()
    changed = {number: line.replace('"kind":"snapshot"', '"kind":"rows"') for number, line in enumerate(lines, 1)}
    first = next(number for number, line in changed.items() if line != lines[number - 1])
    log.write_text("".join(f"{line}\n" for line in changed.values()))
    told = run_json(run)
    told["commit"], told["versions"]["msgspec"] = "0" * 40, "0.1"
    (run / "run.json").write_text(json.dumps(told))
    done = here.run("campaign", "replay", str(run), expect=1)
    assert f"different, first in b2.1.jsonl line {first}" in done.stdout
    assert '"kind":"rows"' in done.stdout and '"kind":"snapshot"' in done.stdout
    assert f"not as it was: commit was {'0' * 40}" in done.stderr
    assert "not as it was: msgspec was 0.1, and is " in done.stderr


def test_an_interrupted_run_is_repeated_to_its_end(tmp_path: Path) -> None:
    here = Here(tmp_path)
    run = made(here, "sim")
    (run / "run.json").write_text(json.dumps({**run_json(run), "outcome": "interrupted"}))
    (run / "logs" / "driver1.1.jsonl").write_text("")
    done = here.run("campaign", "replay", str(run), expect=2)
    assert "was interrupted; its repetition went on to the end" in done.stderr


@pytest.mark.slow
def test_processes_get_the_same_plan_and_timetable(tmp_path: Path) -> None:
    here = Here(tmp_path)
    name = unique("again")
    run = made(here, "process", name, load_s=1.5)
    done = here.run("campaign", "replay", str(run), "--no-audit")
    assert "timing is not" in done.stderr
    again = Path(done.stdout.strip())
    first, second = (plans.read(path / "config" / "driver1.plan.jsonl") for path in (run, again))
    assert first == second and first.operations
    assert run_json(again)["faults"] == run_json(run)["faults"]
    struck = [
        {(line["kind"], line["target"], line["phase"]) for line in map(json.loads, log.read_text().splitlines())
         if line["event"] == "fault"}
        for log in (path / "logs" / "controller.1.jsonl" for path in (run, again))
    ]  # fmt: skip
    assert struck[0] == struck[1] and len(struck[0]) == 6
    assert traces(name) == []


def test_what_cannot_be_repeated_says_why(tmp_path: Path) -> None:
    here = Here(tmp_path)
    run = made(here, "sim")
    (series,) = (here.directory / "runs").glob("*-series")
    assert "is a series of runs; name one" in here.complaint("campaign", "replay", str(series))
    assert "no run directory `nix`" in here.complaint("campaign", "replay", "nix")
    (run / "config" / "driver1.plan.jsonl").unlink()
    assert "driver1.plan.jsonl: No such file" in here.complaint("campaign", "replay", str(run))
    (run / "run.json").write_text("{}")
    assert "it is no campaign's run" in here.complaint("campaign", "replay", str(run))
