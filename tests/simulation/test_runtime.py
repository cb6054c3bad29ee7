"""`--runtime sim` as a person types it: the same campaign files, faults and logs, in virtual time."""

from __future__ import annotations

import json
import signal
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from controller.sim.kernel import EPOCH_NS
from tests.integration.commands import Here, until_line

FAULTS = """name: faults
topology: {topology}
scheme: {scheme}
workload: {{kind: attributes, subscriptions: 30, rate_hz: 60, churn_hz: 5, clients: 9}}
faults:
  - {{kind: delay, target: "link:b1-b2", delay_ms: 20, at_s: 0.2, for_s: 4}}
  - {{kind: cut, target: "link:b2-b3", at_s: 0.5, for_s: 0.7}}
  - {{kind: kill, target: "broker:b2", at_s: 2, for_s: 0.6}}
  - {{kind: pause, target: "broker:b3", at_s: 4, for_s: 3}}
  - {{kind: restart, target: "broker:b1", at_s: 7.5}}
phases: {{warm_s: 1, load_s: 9}}
log: {log}
"""

ROUGH = """description: three brokers on bad links
brokers: [b1, b2, b3]
links:
  - {a: b1, b: b2, delay_ms: 3, jitter_ms: 9, loss: 0.05}
  - {a: b2, b: b3, rate_kbps: 200, loss: 0.02}
"""


def write(here: Here, topology: str = "line-3", scheme: str = "covering-active", log: str = "all") -> None:
    (here.directory / "rough.yaml").write_text(ROUGH)
    (here.directory / "faults.yaml").write_text(FAULTS.format(topology=topology, scheme=scheme, log=log))


def simulate(here: Here, *more: str, expect: int = 0) -> Path:
    before = here.runs()
    here.run("campaign", "run", "faults.yaml", "--runtime", "sim", "--no-audit", *more, expect=expect)
    (run,) = set(here.runs()) - set(before)
    return run


def logs(run: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((run / "logs").iterdir())}


def lines(run: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "logs" / name).read_text().splitlines()]


@pytest.mark.parametrize("scheme", ["covering-active", "xroute"])
def test_one_seed_gives_the_same_bytes_whatever_hashing_does(tmp_path: Path, scheme: str) -> None:
    here = Here(tmp_path)
    write(here, "rough.yaml", scheme)
    found = []
    for hash_seed in ("0", "1", "4711"):
        here.environment["PYTHONHASHSEED"] = hash_seed
        done = here.launch("campaign", "run", "faults.yaml", "--runtime", "sim", "--no-audit")
        found.append(logs(Path(done.stdout.strip())))
    assert len(found[0]) >= 7
    assert found[0] == found[1] == found[2]
    other = here.launch("campaign", "run", "faults.yaml", "--runtime", "sim", "--no-audit", "--seed", "2")
    assert logs(Path(other.stdout.strip())) != found[0]


def test_every_fault_strikes_heals_and_is_recorded(tmp_path: Path) -> None:
    here = Here(tmp_path)
    write(here)
    run = simulate(here)
    told = json.loads((run / "run.json").read_text())
    assert (told["runtime"], told["outcome"], told["log"]) == ("sim", "complete", "all")
    assert told["command"] == "brokerlab campaign run faults.yaml --runtime sim --set seed=1"
    faults = [line for line in lines(run, "controller.1.jsonl") if line["event"] == "fault"]
    for kind in ("delay", "cut", "kill", "pause", "restart"):
        assert [line["phase"] for line in faults if line["kind"] == kind] == ["apply", "heal"]
    assert {"b1.1.jsonl", "b1.2.jsonl", "b2.2.jsonl", "b3.1.jsonl", "driver1.1.jsonl"} <= set(logs(run))
    down = {(line["node"], line["peer"]) for name in logs(run) for line in lines(run, name)
            if line["event"] == "link" and line["state"] == "down"}  # fmt: skip
    assert ("b2", "b3") in down, "a paused broker falls silent"
    for name in logs(run):
        found = lines(run, name)
        assert [line["n"] for line in found] == list(range(1, len(found) + 1))
        assert all(earlier["t"] <= later["t"] for earlier, later in pairwise(found))
        assert EPOCH_NS <= found[0]["t"] <= found[-1]["t"] < EPOCH_NS + 120 * 10**9
        is_killed = name in ("b1.1.jsonl", "b2.1.jsonl")
        assert (found[-1]["event"] == "close") != is_killed


def test_work_and_waiting_are_virtual(tmp_path: Path) -> None:
    here = Here(tmp_path)
    write(here)
    run = simulate(here, "--set", "sim.publication_us=700", "--set", "sim.control_us=300")
    handled = [line for line in lines(run, "b2.2.jsonl") if line["event"] == "handle"]
    assert {line["work_ns"] for line in handled if line["kind"] == "publication"} == {700_000}
    assert {line["work_ns"] for line in handled if line["kind"] != "publication"} == {300_000}
    assert max(line["wait_ns"] for line in handled) > 0
    samples = [line for line in lines(run, "b2.2.jsonl") if line["event"] == "sample"]
    assert {line["rss"] for line in samples} == {0}
    assert samples[-1]["cpu_ns"] > 0 and samples[-1]["cpu_ns"] % 100_000 == 0
    assert json.loads((run / "run.json").read_text())["sim"]["publication_us"] == 700


def told_of(run: Path) -> set[tuple[str, bool]]:
    """Events of brokers, and whether they are about publications."""
    return {
        (line["event"], line.get("kind") == "publication")
        for name in logs(run)
        if name.startswith("b")
        for line in lines(run, name)
    }


def test_how_much_is_logged_is_a_setting(tmp_path: Path) -> None:
    here = Here(tmp_path)
    write(here)
    runs = {level: simulate(here, "--set", f"log={level}") for level in ("all", "publications", "deliveries")}
    assert {("handle", True), ("handle", False), ("forward", True), ("forward", False)} <= told_of(runs["all"])
    assert ("sample", False) in told_of(runs["publications"])
    assert {about for event, about in told_of(runs["publications"]) if event in ("handle", "forward")} == {True}
    assert {event for event, _ in told_of(runs["deliveries"])} == {"open", "link", "close"}
    for level, run in runs.items():
        assert json.loads((run / "run.json").read_text())["log"] == level
        for name in logs(run):
            assert [line["n"] for line in lines(run, name)] == list(range(1, len(lines(run, name)) + 1))
    drivers = [lines(run, "driver1.1.jsonl") for run in runs.values()]
    assert drivers[0] == drivers[1], "what is told does not change what happens"


@pytest.mark.parametrize(
    ("scheme", "story"), [("ToNobody", "which is not there; the last inputs"), ("Crashing", "a plain mistake")]
)
def test_a_broker_that_ends_by_itself_makes_the_outcome_unknown_with_its_story(
    tmp_path: Path, scheme: str, story: str
) -> None:
    here = Here(tmp_path)
    write(here, scheme=f"tests.integration.odd_schemes:{scheme}")
    run = simulate(here, expect=2)
    told = json.loads((run / "run.json").read_text())
    assert told["outcome"] == "unknown"
    assert "ended by itself" in told["outcome_why"] and story in told["outcome_why"]
    assert lines(run, "controller.1.jsonl")[-1]["event"] != "close"


def test_what_a_scheme_persisted_survives_a_simulated_crash(tmp_path: Path) -> None:
    from controller.sim.disk import MemoryStore
    from node.core.schemes.base import Persist

    store = MemoryStore()
    store.append([Persist("a", b"1"), Persist("b", b"2"), Persist("a", b"3")])
    assert store.load() == {"a": b"3", "b": b"2"}
    here = Here(tmp_path)
    write(here, scheme="tests.integration.odd_schemes:Remembering")
    assert "b2.2.jsonl" in logs(simulate(here))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_closes_the_logs_and_says_so(tmp_path: Path, number: signal.Signals) -> None:
    here = Here(tmp_path)
    write(here)
    arguments = (
        "--set",
        "phases.load_s=80000",
        "--set",
        "workload.publications=300",
        "--set",
        "faults=[{kind: kill, target: 'broker:b3', at_s: 1}]",
    )
    with here.started("campaign", "run", "faults.yaml", "--runtime", "sim", *arguments) as running:
        until_line(running.stderr, "kill b3")
        running.send_signal(number)
        _, err = running.communicate(timeout=60)
        assert running.returncode == 130, err
    (run,) = here.runs()
    assert json.loads((run / "run.json").read_text())["outcome"] == "interrupted"
    assert lines(run, "controller.1.jsonl")[-1]["event"] != "close"
    assert lines(run, "driver1.1.jsonl")[-1]["event"] == "close"
    assert lines(run, "b1.1.jsonl")[-1]["event"] == "close"


def test_what_makes_no_sense_in_virtual_time_is_refused(tmp_path: Path) -> None:
    here = Here(tmp_path)
    write(here)
    assert "--keep leaves brokers running" in here.complaint(
        "campaign", "run", "faults.yaml", "--runtime", "sim", "--keep"
    )
    assert "it is for `brokerlab campaign run`" in here.complaint("up", "line-3", "--runtime", "sim")
    assert "sim.publication_us" in here.complaint(
        "campaign", "run", "faults.yaml", "--runtime", "sim", "--set", "sim.publication_us=-1"
    )
    assert "log" in here.complaint("campaign", "run", "faults.yaml", "--runtime", "sim", "--set", "log=nothing")
