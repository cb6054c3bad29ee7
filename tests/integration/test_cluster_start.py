"""A start that cannot succeed says why, and leaves nothing behind."""

from __future__ import annotations

import io
import os
import signal
import socket
from pathlib import Path

import pytest

from controller import cluster, topology
from controller.cluster import ClusterSpec
from controller.errors import EnvironmentProblem, UsageError
from controller.progress import PlainProgress
from controller.runtimes import engine, processes
from controller.runtimes.base import Runtime
from tests.integration.commands import Here, traces, unique, until_line
from tests.integration.lab import until

BOTH = ["process", pytest.param("docker", marks=pytest.mark.docker)]
UNREADY = "tests.integration.unready_schemes:Waiting"
STILLBORN = "tests.integration.unready_schemes:Stillborn"


def spec(directory: Path, runtime: str, scheme: str = "simple", port: int | None = None) -> ClusterSpec:
    return ClusterSpec(
        name=unique("start"),
        runtime=runtime,
        scheme=scheme,
        topology=topology.load("line-3"),
        directory=directory / "run",
        seed=1,
        command=(),
        port=port,
    )


def failing_up(one: ClusterSpec, within_s: float) -> tuple[str, str]:
    """What was said, and the error."""
    said = io.StringIO()
    with pytest.raises(EnvironmentProblem) as caught:
        cluster.up(one, PlainProgress(said), within_s)
    assert traces(one.name) == []
    return said.getvalue(), str(caught.value)


def test_a_broker_that_is_not_ready_in_time_is_named_with_its_last_lines(tmp_path: Path) -> None:
    said, told = failing_up(spec(tmp_path, "process", UNREADY), 3)
    assert "b1 is not ready after 3 s and waits for godot (nor b2, b3)" in told
    assert "last lines of b1:" in said
    assert "broker is up" in said


def test_a_broker_that_ends_at_once_is_named_with_its_last_lines(tmp_path: Path) -> None:
    said, told = failing_up(spec(tmp_path, "process", STILLBORN), 30)
    assert "ended before it was ready" in told
    assert "it does not live" in said


@pytest.mark.docker
def test_a_scheme_that_the_image_does_not_hold_is_refused_before_anything_starts(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="put it there with --with PACKAGE"):
        cluster.up(spec(tmp_path, "docker", UNREADY), PlainProgress(io.StringIO()))


@pytest.mark.parametrize("runtime", BOTH)
def test_a_port_in_use_is_named(tmp_path: Path, runtime: str) -> None:
    here = Here(tmp_path)
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        port = holder.getsockname()[1]
        name = unique("port")
        told = here.complaint("up", "line-3", "--runtime", runtime, "--name", name, "--port", str(port), expect=69)
    assert f"port {port} on 127.0.0.1" in told
    assert here.runs() == []
    assert traces(name) == []


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("up", "tre-13"), "no topology `tre-13`; did you mean `tree-13`?"),
        (("up", "line-3", "--scheme", "simpel"), "no scheme is called 'simpel'; known are"),
        (("up", "line-3", "--runtime", "podman"), "no runtime `podman`"),
        (("up", "line-3", "--name", "No Name"), "cannot be a cluster's name"),
        (("down", "nobody"), "no cluster `nobody` is running"),
        (("campaign", "run", "smok"), "no campaign `smok`; did you mean `smoke`?"),
        (("campaign", "run", "smoke", "--scheme", "simpel"), "no scheme `simpel`"),
        (("campaign", "run", "smoke", "--set", "phases"), "write KEY=VALUE"),
        (("campaign", "run", "smoke", "--runtime", "podman"), "no runtime `podman`"),
        (("audit", "nowhere"), "no run directory `nowhere`"),
    ],
)
def test_wrong_words_get_one_line_and_leave_nothing(tmp_path: Path, arguments: tuple[str, ...], told: str) -> None:
    here = Here(tmp_path)
    assert told in here.complaint(*arguments)
    assert list(tmp_path.iterdir()) == []


def test_without_docker_the_way_out_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nonexistent/docker.sock")
    engine.client.cache_clear()
    try:
        for arguments in (("up", "line-3"), ("campaign", "run", "smoke")):
            assert "--runtime process (make: RUNTIME=process)" in Here(tmp_path).complaint(*arguments, expect=69)
    finally:
        engine.client.cache_clear()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("runtime", BOTH)
def test_ctrl_c_during_the_start_leaves_nothing_running(tmp_path: Path, runtime: str) -> None:
    name = unique("ctrlc")
    with Here(tmp_path).started("up", "ring-6", "--runtime", runtime, "--name", name) as starting:
        until_line(starting.stderr, "starting")
        starting.send_signal(signal.SIGINT)
        assert starting.wait(60) == 130
    assert traces(name) == []


@pytest.mark.parametrize("runtime", BOTH)
def test_clean_removes_what_was_left_without_needing_any_file(
    tmp_path: Path, runtime: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, name = Here(tmp_path), unique("clean")
    here.launch("up", "line-3", "--runtime", runtime, "--name", name)
    (run,) = here.runs()
    for path in (*(run / "config").iterdir(), run / "cluster.json"):
        path.unlink()
    # Other clusters on this machine are not this test's to remove.
    everything = processes.scan
    monkeypatch.setattr(processes, "scan", lambda: [one for one in everything() if one.cluster == name])
    monkeypatch.setattr(engine, "OURS", {"label": ["brokerlab=1", f"brokerlab.cluster={name}"]})
    removed = here.run("clean").stdout
    assert removed.count("removed ") == (5 if runtime == "docker" else 4)
    monkeypatch.undo()
    assert traces(name) == []


def test_nodes_that_die_under_a_living_launcher_leave_no_zombie(tmp_path: Path) -> None:
    one = spec(tmp_path, "process")
    with cluster.up(one, PlainProgress(io.StringIO())) as live:
        runtime: Runtime = live.runtime
        try:
            pid = next(marked.pid for marked in processes.scan() if (marked.cluster, marked.node) == (one.name, "b2"))
            runtime.kill("b2")
            until(lambda: runtime.state()["b2"] == "dead" and not Path(f"/proc/{pid}").exists(), "b2 is gone")
            pid = next(marked.pid for marked in processes.scan() if (marked.cluster, marked.node) == (one.name, "b1"))
            os.kill(pid, signal.SIGKILL)
            until(lambda: runtime.state()["b1"] == "dead" and not Path(f"/proc/{pid}").exists(), "b1 is gone")
        finally:
            runtime.down()
    assert traces(one.name) == []
