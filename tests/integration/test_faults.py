"""Every fault as a person types it, on real processes and containers, and what the machine says of it beside us."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from controller import faults, runtimes
from controller.cluster import live
from controller.runtimes import processes
from node.client import Client
from tests.integration.commands import Here, traces, unique
from tests.integration.lab import until

DOCKER = pytest.param("docker", marks=pytest.mark.docker)


class Up(NamedTuple):
    here: Here
    name: str
    runtime: str
    run: Path
    listener: Client
    speaker: Client
    numbers: Iterator[int]

    def fault(self, *words: str) -> str:
        return self.here.run("fault", *words, "--cluster", self.name).stderr

    def status(self, broker: str) -> dict[str, Any] | None:
        with live.read(self.run) as asked:
            return asked.statuses([broker], 1.0)[broker]

    def records(self) -> list[tuple[str, str, str]]:
        paths = sorted((self.run / "logs").glob("controller.*.jsonl"), key=lambda path: int(path.name.split(".")[1]))
        lines = [json.loads(line) for path in paths for line in path.read_text().splitlines()]
        return [(one["kind"], one["target"], one["phase"]) for one in lines if one["event"] == "fault"]

    def inspect(self) -> dict[str, Any]:
        import docker

        client = docker.from_env()
        try:
            return dict(client.api.inspect_container(f"brokerlab-{self.name}-b2"))
        finally:
            client.close()

    def state(self) -> str:
        """Of b2, by the kernel or the engine."""
        if self.runtime == "docker":
            return str(self.inspect()["State"]["Status"])
        found = [one for one in processes.scan() if (one.cluster, one.node) == (self.name, "b2")]
        return ("paused" if found[0].is_paused else "running") if found else "exited"


@pytest.fixture(scope="module", params=["process", DOCKER])
def cluster(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    here = Here(tmp_path_factory.mktemp(request.param))
    name = unique("broken")
    try:
        here.launch("up", "line-3", "--runtime", request.param, "--name", name)
        (run,) = here.runs()
        facts = run / live.FILE
        with Client.from_cluster(facts, "b2") as listener, Client.from_cluster(facts, "b1") as speaker:
            listener.subscribe("probe exists")
            yield Up(here, name, request.param, run, listener, speaker, count())
    finally:
        for left in traces(name):
            runtimes.find(left.runtime)(left.name, left.directory, left.nodes).down()


@pytest.fixture(autouse=True)
def healed(request: pytest.FixtureRequest) -> Iterator[None]:
    """A test that fails must not make the next ones fail."""
    yield
    if "cluster" in request.fixturenames:
        up: Up = request.getfixturevalue("cluster")
        up.fault("heal", "--all")


def journey_ms(up: Up, within_s: float = 1.0) -> float:
    """How long a publication takes from b1 to a client at b2, as its sender sees it; infinite if it does not come."""
    number = next(up.numbers)
    began = time.monotonic()
    up.speaker.publish({"probe": number})
    while (left_s := began + within_s - time.monotonic()) > 0:
        message = up.listener.receive(left_s)
        if message is not None and message.content == {"probe": number}:
            return (time.monotonic() - began) * 1e3
    return float("inf")


def clock_s(up: Up) -> float:
    status = up.status("b2")
    assert status is not None
    return float(status["clock_ns"]) / 1e9 - time.monotonic()


def limit_of(up: Up) -> int:
    if up.runtime == "docker":
        return int(up.inspect()["HostConfig"]["Memory"])
    (pid,) = [one.pid for one in processes.scan() if (one.cluster, one.node) == (up.name, "b2")]
    told = re.search(r"Max data size +(\S+)", Path(f"/proc/{pid}/limits").read_text())
    assert told is not None
    return 1 << 60 if told[1] == "unlimited" else int(told[1])


def share_of(up: Up) -> float:
    if up.runtime == "docker":
        host = up.inspect()["HostConfig"]
        return host["CpuQuota"] / host["CpuPeriod"] if host["CpuQuota"] > 0 else 1.0
    status = up.status("b2")
    assert status is not None
    return float(status["cpu_share"])


def log_grows(up: Up) -> bool:
    newest = max((up.run / "logs").glob("b2.*.jsonl"), key=lambda path: int(path.name.split(".")[1]))
    size = newest.stat().st_size
    try:
        return bool(until(lambda: newest.stat().st_size > size, "the log grows", 2))
    except AssertionError:
        return False


def is_heard(up: Up) -> bool:
    status = up.status("b1")
    return status is not None and status["links"]["b2"]["state"] == "up"


def shape(up: Up) -> dict[str, Any]:
    status = up.status("b1")
    assert status is not None
    return dict(status["links"]["b2"])


Sight = Callable[[Up], bool]
EVERY_KIND: list[tuple[str, list[str], Sight]] = [
    ("kill", ["b2"], lambda up: up.state() == "exited"),
    ("stop", ["b2"], lambda up: up.state() == "exited"),
    ("pause", ["b2"], lambda up: up.state() == "paused"),
    ("cut", ["b1-b2"], lambda up: journey_ms(up) == float("inf")),
    ("partition", ["b1|b2,b3"], lambda up: journey_ms(up) == float("inf")),
    ("delay", ["b1-b2", "--ms", "150"], lambda up: journey_ms(up, 9) >= 150),
    ("jitter", ["b1-b2", "--jitter-ms", "80"], lambda up: shape(up)["jitter_ms"] == 80),
    ("loss", ["b1-b2", "--share", "0.2"], lambda up: shape(up)["loss"] == 0.2),
    ("duplicate", ["b1-b2", "--share", "0.2"], lambda up: shape(up)["duplicate"] == 0.2),
    ("reorder", ["b1-b2", "--share", "0.2"], lambda up: shape(up)["reorder"] == 0.2),
    ("rate", ["b1-b2", "--rate-kbps", "64"], lambda up: shape(up)["rate_kbps"] == 64),
    ("flap", ["b1-b2", "--up-ms", "300", "--down-ms", "300"], lambda up: shape(up)["flap_down_ms"] == 300),
    ("throttle", ["b2", "--cpu-share", "0.05"], lambda up: abs(share_of(up) - 0.05) < 0.01),
    ("memory", ["b2", "--limit-mb", "100"], lambda up: limit_of(up) == 100 << 20),
    ("clock-skew", ["b2", "--ahead-ms", "9000"], lambda up: clock_s(up) > 8),
    ("disk-full", ["b2"], lambda up: not log_grows(up)),
    ("isolate", ["b2"], lambda up: not is_heard(up)),
]
# A container costs more, so only where a runtime does something of its own.
BY_THE_RUNTIME = ("kill", "pause", "throttle", "memory", "isolate", "disk-full")
STAYS = ("clock-skew",)


def test_every_kind_is_tried_somewhere() -> None:
    elsewhere = {"restart", "client-crash"}
    assert {kind for kind, *_ in EVERY_KIND} | elsewhere == set(faults.names())


def of(kinds: Iterable[tuple[str, list[str], Sight]]) -> pytest.MarkDecorator:
    each = list(kinds)
    return pytest.mark.parametrize(("kind", "words", "bites"), each, ids=[kind for kind, *_ in each])


@of(each for each in EVERY_KIND if each[0] in BY_THE_RUNTIME)
def test_it_bites_and_a_later_command_heals_it(cluster: Up, kind: str, words: list[str], bites: Sight) -> None:
    check_that_it_bites_and_heals(cluster, kind, words, bites)


@pytest.mark.parametrize("cluster", ["process"], indirect=True)
@of(each for each in EVERY_KIND if each[0] not in BY_THE_RUNTIME)
def test_a_broker_does_it_to_itself(cluster: Up, kind: str, words: list[str], bites: Sight) -> None:
    check_that_it_bites_and_heals(cluster, kind, words, bites)


def check_that_it_bites_and_heals(cluster: Up, kind: str, words: list[str], bites: Sight) -> None:
    before = len(cluster.records())
    assert "could not be measured" not in cluster.fault(kind, *words)
    assert bites(cluster)
    (applied,) = cluster.here.json("fault", "list", "--cluster", cluster.name)
    assert (applied["kind"], applied["state"]) == (kind, "applied")
    assert "1 healed" in cluster.fault("heal", "--all")
    if kind not in STAYS:  # a clock that jumped does not jump back
        assert not bites(cluster)
    assert cluster.here.json("fault", "list", "--cluster", cluster.name) == []
    target = applied["target"]
    assert cluster.records()[before:] == [(kind, target, "apply"), (kind, target, "heal")]
    if faults.find(kind).is_death:  # excused is what comes before the client has said again what it wants
        until(lambda: journey_ms(cluster, 2) < 2_000, "publications arrive again")
    else:
        assert journey_ms(cluster, 12) < 12_000


def test_a_cut_one_way_is_seen_by_one_end(cluster: Up) -> None:
    cluster.fault("cut", "b1-b2", "--direction", "forth")
    ends = {(a, b): (cluster.status(a) or {})["links"][b] for a, b in (("b1", "b2"), ("b2", "b1"))}
    assert [(one["cut"], one["deaf"]) for one in ends.values()] == [(True, False), (False, True)]
    cluster.fault("heal", "b1-b2")


def test_faults_overlap_and_are_healed_in_any_order(cluster: Up) -> None:
    cluster.fault("throttle", "b2", "--cpu-share", "0.2")
    cluster.fault("pause", "b2")
    cluster.fault("isolate", "b2")
    assert "could not be measured: b2 cannot be asked" in cluster.fault("cut", "b1-b2")
    cluster.fault("heal", "b1-b2")
    cluster.fault("resume", "b2")
    cluster.fault("heal", "--all")
    assert cluster.here.json("fault", "list", "--cluster", cluster.name) == []
    assert share_of(cluster) == 1
    assert journey_ms(cluster, 12) < 12_000


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("client-crash", "c1"), "the clients of a live cluster are your own programs"),
        (("memory", "b2", "--limit-mb", "3"), "limit_mb: expected a whole number >= 6"),
        (("delay", "b1-b2", "--ms", "-1"), "delay_ms: expected a number >= 0"),
        (("clock-skew", "b2"), "say rate (such as 1.5) or ahead_ms"),
        (("heal", "f999"), "no fault f999 is applied"),
        (("partition", "b1|b3"), "no link is between the brokers"),
    ],
)
def test_what_cannot_be_done_is_refused_in_one_line(cluster: Up, words: tuple[str, ...], told: str) -> None:
    before = cluster.records()
    assert told in cluster.here.complaint("fault", *words, "--cluster", cluster.name)
    assert cluster.records() == before


def test_ctrl_c_while_it_is_measured_forgets_nothing(cluster: Up) -> None:
    """Neither end of a link whose end stands still can be measured; who loses patience can heal it later."""
    cluster.fault("delay", "b1-b2", "--ms", "3000")
    with cluster.here.started("fault", "heal", "b1-b2", "--cluster", cluster.name) as healing:
        until(lambda: shape(cluster)["delay_ms"] == 0, "the healing has begun")
        healing.send_signal(signal.SIGINT)
        assert healing.wait(30) in (0, 130)
    cluster.fault("heal", "--all")
    assert cluster.here.json("fault", "list", "--cluster", cluster.name) == []


CAMPAIGN = """name: doubted
topology: line-3
scheme: simple
workload: {kind: attributes, subscriptions: 6, rate_hz: 20, clients: 3}
faults: [{kind: delay, target: "link:b2-b3", delay_ms: 30, at_s: 0.5, for_s: 3}]
phases: {warm_s: 0, load_s: 5}
"""


def run_doubted(tmp_path: Path) -> dict[str, Any]:
    here = Here(tmp_path)
    (tmp_path / "doubted.yaml").write_text(CAMPAIGN)
    here.run("campaign", "run", "doubted.yaml", "--runtime", "process", "--no-audit")
    (run,) = here.runs()
    return dict(json.loads((run / "run.json").read_text()))


def test_a_runtime_that_ignores_what_it_is_asked_is_found_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live.LiveCluster, "shape", lambda self, broker, peer, shape: None)
    told = run_doubted(tmp_path)
    assert len(told["doubts"]) == 1
    assert re.fullmatch(r"f1, delay of b2-b3, did not bite: b\d to b\d: a frame took \d+ ms, not 30", told["doubts"][0])


def test_a_broker_that_stood_still_without_a_fault_is_found_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel gave it no time: here because somebody else stopped it, else because the machine was too busy."""
    apply = live.LiveCluster.shape
    stood_still: list[int] = []

    def starve(self: live.LiveCluster, broker: str, peer: str, shape: Any) -> None:
        apply(self, broker, peer, shape)
        if not stood_still:
            (pid,) = [one.pid for one in processes.scan() if (one.cluster, one.node) == (self.name, "b1")]
            stood_still.append(pid)
            os.kill(pid, signal.SIGSTOP)
            began = time.monotonic()
            until(lambda: time.monotonic() - began > 3.5, "it stood still for long", 9)
            os.kill(pid, signal.SIGCONT)

    monkeypatch.setattr(live.LiveCluster, "shape", starve)
    told = run_doubted(tmp_path)
    assert any("this machine was too busy: b1 stood still for" in doubt for doubt in told["doubts"])


def test_an_innocent_run_is_not_doubted(tmp_path: Path) -> None:
    assert run_doubted(tmp_path)["doubts"] == []
