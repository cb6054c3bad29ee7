"""For all tests: how Hypothesis searches, and that nothing of ours is left running when the session ends."""

from __future__ import annotations

import os
import uuid
from pathlib import Path

import docker
import pytest
from docker.errors import DockerException
from hypothesis import settings

# The same examples every time: a red build is about the change. HYPOTHESIS_PROFILE=explore looks for new ones.
settings.register_profile("repeatable", derandomize=True, deadline=None, print_blob=True)
settings.register_profile("explore", max_examples=1000, deadline=None, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--rewrite", action="store_true", help="write transcripts as they come out now (read the diff)")


def pytest_configure(config: pytest.Config) -> None:
    # Under xdist the workers only run tests; the process that started them sees the whole session.
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(LeftBehind(), "left-behind")


class LeftBehind:
    """Fails the session if a container, network or process of ours outlives it."""

    VARIABLE = "BROKERLAB_TEST_SESSION"

    def __init__(self) -> None:
        # Inherited by every process that a test starts, so that another session on this machine is not accused.
        self.session_id = uuid.uuid4().hex
        os.environ[self.VARIABLE] = self.session_id
        self.before = docker_objects()
        self.has_used_docker = False
        self.found: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.has_used_docker |= "docker" in report.keywords

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        self.found = marked_processes(f"{self.VARIABLE}={self.session_id}")
        if self.has_used_docker:
            self.found += sorted(docker_objects() - self.before)
        if self.found and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for name in self.found:
            terminalreporter.write_line(f"LEFT BEHIND: {name}", red=True)


def docker_objects() -> set[str]:
    try:
        client = docker.from_env()
        ours = {"label": "brokerlab=1"}
        containers = {f"container {one['Names'][0]}" for one in client.api.containers(all=True, filters=ours)}
        networks = {f"network {one['Name']}" for one in client.api.networks(filters=ours)}
    except DockerException:
        # Without an engine nothing can be left in it; the tests that need one fail by themselves.
        return set()
    client.close()
    return containers | networks


def marked_processes(mark: str) -> list[str]:
    """Nodes of our clusters that were started, however indirectly, by the session with this mark."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            environment = (folder / "environ").read_bytes().decode(errors="replace").split("\0")
            command = (folder / "cmdline").read_bytes().decode(errors="replace").replace("\0", " ")
        except OSError:
            continue
        if mark in environment and any(entry.startswith("BROKERLAB_NODE=") for entry in environment):
            found.append(f"process {folder.name} {command.strip()}")
    return sorted(found)
