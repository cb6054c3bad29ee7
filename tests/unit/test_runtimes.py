from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from controller import runtimes
from controller.errors import EnvironmentProblem, UsageError
from controller.runtimes import engine, ports, processes
from controller.runtimes.base import config_files, in_parallel

SLEEPER = [sys.executable, "-c", "import sys; print('up', flush=True); sys.stdin.read()"]


@pytest.fixture
def marked(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    marks = {processes.CLUSTER: f"t{os.getpid()}", processes.NODE: "b1", processes.DIR: str(tmp_path)}
    child = subprocess.Popen(SLEEPER, env={**os.environ, **marks}, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdout is not None
    child.stdout.readline()
    yield child
    child.kill()
    child.communicate()


def mine(child: subprocess.Popen[bytes]) -> list[processes.Marked]:
    return [one for one in processes.scan() if one.pid == child.pid]


def test_a_marked_process_is_found_by_its_environment(marked: subprocess.Popen[bytes], tmp_path: Path) -> None:
    (one,) = mine(marked)
    assert (one.cluster, one.node, one.directory, one.is_paused) == (f"t{os.getpid()}", "b1", tmp_path, False)


def test_a_paused_process_is_told_from_a_running_one(marked: subprocess.Popen[bytes]) -> None:
    assert processes.send(mine(marked)[0], signal.SIGSTOP)
    os.waitpid(marked.pid, os.WUNTRACED)
    assert mine(marked)[0].is_paused
    assert processes.send(mine(marked)[0], signal.SIGCONT)


def test_a_zombie_is_dead(marked: subprocess.Popen[bytes]) -> None:
    (one,) = mine(marked)
    assert processes.send(one, signal.SIGKILL)
    os.waitid(os.P_PID, marked.pid, os.WEXITED | os.WNOWAIT)
    assert mine(marked) == []
    assert not processes.send(one, signal.SIGTERM)


def test_a_process_with_the_same_pid_but_other_marks_is_spared(marked: subprocess.Popen[bytes]) -> None:
    (one,) = mine(marked)
    other = processes.Marked(one.pid, one.cluster, "b2", one.directory, False)
    assert not processes.send(other, signal.SIGKILL)
    assert marked.poll() is None


def test_a_port_in_use_is_named() -> None:
    with socket.socket() as holder:
        holder.bind((ports.HOST, 0))
        holder.listen()
        port = holder.getsockname()[1]
        with pytest.raises(EnvironmentProblem, match=f"port {port} on 127.0.0.1 cannot be taken.*--port"):
            ports.check_free(port)
    ports.check_free(ports.free_port())


def test_without_docker_the_other_runtime_is_suggested(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nonexistent/docker.sock")
    engine.client.cache_clear()
    try:
        with pytest.raises(EnvironmentProblem, match=r"Docker does not answer.*--runtime process"):
            runtimes.find("docker").check()
        assert runtimes.find("docker").discover() == []
        assert runtimes.find("docker").remove_all() == []
    finally:
        engine.client.cache_clear()


def test_an_unknown_runtime_is_answered_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match="no runtime `dokcer`; did you mean `docker`\\?"):
        runtimes.find("dokcer")
    assert runtimes.DEFAULT == "docker"


def test_a_node_sees_its_own_configuration_and_its_roles_keys_only() -> None:
    assert config_files("b1", "broker") == ["b1.json", "broker-keys.json"]
    assert config_files("driver1", "driver") == ["driver1.json", "driver-keys.json", "driver1.plan.jsonl"]


def test_all_of_it_is_tried_and_the_first_failure_is_told() -> None:
    done: list[str] = []

    def work(name: str) -> None:
        done.append(name)
        if name in ("b", "d"):
            raise UsageError(name)

    with pytest.raises(UsageError, match=r"^b$"):
        in_parallel(work, "abcdef")
    assert sorted(done) == list("abcdef")
