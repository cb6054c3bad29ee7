"""A campaign from its file to the verdict, and what is left when somebody loses patience."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from controller.audit import session
from tests.integration.commands import Here, traces, until_line

BOTH = ["process", pytest.param("docker", marks=pytest.mark.docker)]


def controller_log(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "logs" / "controller.1.jsonl").read_text().splitlines()]


def check_log(lines: list[dict[str, Any]]) -> None:
    assert [line["n"] for line in lines] == list(range(1, len(lines) + 1))
    assert all(earlier["t"] <= later["t"] for earlier, later in pairwise(lines))
    assert lines[0]["event"] == "open"


def last_events(run: Path) -> dict[str, str]:
    """The newest log of each node, by its last record."""
    logs = sorted((run / "logs").glob("*.jsonl"), key=lambda path: int(path.name.split(".")[1]))
    return {path.name.split(".")[0]: json.loads(path.read_text().splitlines()[-1])["event"] for path in logs}


@pytest.fixture(scope="module")
def spark() -> Iterator[None]:
    """Started once; the command joins it."""
    with session():
        yield


@pytest.mark.slow
@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("runtime", [*BOTH, "sim"])
def test_smoke_ends_with_a_pass_and_a_report(tmp_path: Path, runtime: str) -> None:
    here = Here(tmp_path)
    done = here.run("campaign", "run", "smoke", "--runtime", runtime)
    (run,) = here.runs()
    assert done.stdout.splitlines()[-2:] == ["verdict: pass", f"report: {run / 'report.html'}"]
    assert (run / "report.html").stat().st_size > 1000
    assert json.loads((run / "audit" / "verdict.json").read_text())["verdict"] == "pass"
    assert [one for one in traces("smoke-") if one.directory == run] == []
    lines = controller_log(run)
    check_log(lines)
    assert lines[-1]["event"] == "close"
    phases = [f"{line['name']} {line['state']}" for line in lines if line["event"] == "phase"]
    names = ("warm", "load", "heal", "quiesce", "quiet", "final", "settle", "quiet")
    assert phases == [f"{name} {state}" for name in names for state in ("start", "end")]
    faults = [(line["kind"], line["target"], line["phase"]) for line in lines if line["event"] == "fault"]
    assert sorted(faults) == [
        ("cut", "link:b2-b3", "apply"),
        ("cut", "link:b2-b3", "heal"),
        ("kill", "broker:b2", "apply"),
        ("kill", "broker:b2", "heal"),
    ]
    assert set(last_events(run).values()) == {"close"}
    told = json.loads((run / "run.json").read_text())
    assert (told["outcome"], told["runtime"], told["seed"]) == ("complete", runtime, 1)
    assert told["command"] == f"brokerlab campaign run smoke --runtime {runtime} --set seed=1"


@pytest.mark.parametrize(
    ("runtime", "number"),
    [
        ("process", signal.SIGINT),
        ("process", signal.SIGTERM),
        pytest.param("docker", signal.SIGINT, marks=pytest.mark.docker),
    ],
)
def test_an_interrupt_heals_collects_and_leaves_nothing(tmp_path: Path, runtime: str, number: signal.Signals) -> None:
    here = Here(tmp_path)
    # The cut is applied when the load begins, and would last.
    file = tmp_path / "long.yaml"
    file.write_text(
        "name: interrupted\ntopology: line-3\nscheme: simple\n"
        "workload: {kind: attributes, subscriptions: 6, rate_hz: 20, clients: 3}\n"
        "faults: [{kind: cut, target: 'link:b1-b2'}, {kind: kill, target: 'broker:b3', at_s: 0.5}]\n"
        "phases: {warm_s: 0, load_s: 300}\n"
    )
    with here.started("campaign", "run", str(file), "--runtime", runtime) as running:
        until_line(running.stderr, "kill b3")
        running.send_signal(number)
        _, err = running.communicate(timeout=60)
        assert running.returncode == 130, err
    (run,) = here.runs()
    assert [one for one in traces("interrupted-") if one.directory == run] == []
    lines = controller_log(run)
    check_log(lines)
    assert lines[-1]["event"] != "close", "the audit must see that this run did not come to its end"
    assert json.loads((run / "run.json").read_text())["outcome"] == "interrupted"
    assert last_events(run)["driver1"] == "close"
    assert last_events(run)["b1"] == "close"


def test_a_second_ctrl_c_goes_faster_and_leaves_nothing_either(tmp_path: Path) -> None:
    here = Here(tmp_path)
    with here.started("campaign", "run", "smoke", "--runtime", "process", "--set", "phases.load_s=300") as running:
        until_line(running.stderr, "load ")
        running.send_signal(signal.SIGINT)
        until_line(running.stderr, "once more to hurry")
        running.send_signal(signal.SIGINT)
        assert running.wait(30) == 130
    (run,) = here.runs()
    assert [one for one in traces("smoke-") if one.directory == run] == []


TINY = """name: tiny
topology: line-3
scheme: simple
workload: {kind: attributes, subscriptions: 6, rate_hz: 20, clients: 3}
phases: {warm_s: 0, load_s: 0.5}
"""


def test_a_broker_that_ends_by_itself_makes_the_outcome_unknown_at_once(tmp_path: Path) -> None:
    here = Here(tmp_path)
    (tmp_path / "tiny.yaml").write_text(TINY)
    scheme = "tests.integration.unready_schemes:Falling"
    arguments = ("campaign", "run", "tiny.yaml", "--runtime", "process", "--scheme", scheme, "--no-audit")
    done = here.run(*arguments, expect=2)
    assert "ended by itself" in done.stderr
    assert "a plain mistake" in done.stderr, "its last lines are shown"
    (run,) = here.runs()
    told = json.loads((run / "run.json").read_text())
    assert told["outcome"] == "unknown"
    assert "ended by itself" in told["outcome_why"]
    assert controller_log(run)[-1]["event"] != "close"
    assert [one for one in traces("tiny-") if one.directory == run] == []


def test_a_kept_cluster_stays_up_for_one_run_only(tmp_path: Path) -> None:
    here = Here(tmp_path)
    (tmp_path / "tiny.yaml").write_text(TINY + "matrix: {seed: [1, 2]}\n")
    arguments = ("campaign", "run", "tiny.yaml", "--runtime", "process", "--keep")
    assert "--keep is for one run, this campaign has 2" in here.complaint(*arguments)
    # In a process of its own: the cluster must outlive it.
    done = here.launch(*arguments, "--seed", "2")
    (run,) = here.runs()
    (left,) = [one for one in traces("tiny-") if one.directory == run]
    assert f"`brokerlab down {left.name}` stops it" in done.stderr
    assert sorted(left.nodes) == ["b1", "b2", "b3", "gateway"]
    here.run("down", left.name)
    assert [one for one in traces("tiny-") if one.directory == run] == []


def test_a_matrix_is_run_one_after_the_other(tmp_path: Path) -> None:
    here = Here(tmp_path)
    (tmp_path / "tiny.yaml").write_text(TINY + "matrix: {scheme: [flooding, covering-active]}\n")
    done = here.run("campaign", "run", "tiny.yaml", "--runtime", "process", "--no-audit")
    told = [json.loads((run / "run.json").read_text()) for run in map(Path, done.stdout.split())]
    assert [(one["scheme"], one["outcome"]) for one in told] == [
        ("flooding", "complete"),
        ("covering-active", "complete"),
    ]
    assert told[1]["command"].endswith("--set scheme=covering-active --set seed=1")
