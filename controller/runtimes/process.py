"""Brokers as local processes: for machines without Docker, and for quick tests."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import node as node_package
from controller import files
from controller.progress import Progress
from controller.runtimes import ports, processes
from controller.runtimes.base import GATEWAY, Found, Layout, NodeState, Owner, Runtime, in_parallel

STOP_WITHIN_S = 5.0
DIE_WITHIN_S = 10.0
POLL_S = 0.01


class ProcessRuntime(Runtime):
    name = "process"

    def __init__(self, cluster: str, directory: Path, nodes: Mapping[str, str]) -> None:
        super().__init__(cluster, directory, nodes)
        self._is_removed = threading.Event()

    @classmethod
    def check(cls) -> None:
        return

    @classmethod
    def owner(cls) -> Owner:
        return Owner(os.getuid(), os.getgid())

    @classmethod
    def discover(cls) -> list[Found]:
        clusters: dict[tuple[str, Path], dict[str, NodeState]] = {}
        for one in processes.scan():
            nodes = clusters.setdefault((one.cluster, one.directory), {})
            nodes[one.node] = "paused" if one.is_paused else "running"
        return [Found(name, cls.name, directory, nodes) for (name, directory), nodes in clusters.items()]

    @classmethod
    def remove_all(cls) -> list[str]:
        left = processes.scan()
        for one in left:
            processes.send(one, signal.SIGKILL)
        _wait(lambda: not processes.scan(), DIE_WITHIN_S)
        return [f"process {one.pid} ({one.node} of {one.cluster})" for one in left]

    def layout(self, port: int | None) -> Layout:
        # Abstract sockets are one namespace for the whole machine: the token keeps clusters apart.
        token = secrets.token_hex(4)
        channels = {"broker": ("peers", "clients", "admin"), "driver": ("admin",)}
        endpoints = {
            name: {channel: f"ipc://@brokerlab-{token}-{name}-{channel}" for channel in channels[role]}
            for name, role in self.nodes.items()
            if role in channels
        }
        port = ports.free_port() if port is None else port
        return Layout(
            config_dir=str(self.directory / "config"),
            logs_dir=str(self.directory / "logs"),
            endpoints=endpoints,
            binds={**endpoints, GATEWAY: {"gateway": ports.endpoint(port)}},
            port=port,
        )

    def up(self, layout: Layout, progress: Progress, packages: Sequence[str] = ()) -> str:
        """Nodes run in our own Python: a package that we have, they have."""
        (self.directory / "logs-stderr").mkdir(mode=0o700, exist_ok=True)
        with progress.bar("starting", len(self.nodes)) as bar:

            def launch(name: str) -> None:
                self.start(name)
                bar.advance(name)

            in_parallel(launch, self.nodes)
        return layout.binds[GATEWAY]["gateway"]

    def start(self, node: str) -> None:
        _reap()
        if self._find(node) is not None:
            return
        config = self.directory / "config" / f"{node}.json"
        command = [sys.executable, "-m", "node", self.nodes[node], "--config", str(config)]
        with self._said(node).open("ab") as said:
            child = subprocess.Popen(
                command,
                env=self._environment(node),
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                cwd="/",
                start_new_session=True,
            )
        _children[child.pid] = child
        if self._is_removed.is_set():
            # Interrupted and removed while this one was on its way: it must not be left over.
            child.kill()

    def kill(self, node: str) -> None:
        self._end(node, signal.SIGKILL, DIE_WITHIN_S)

    def stop(self, node: str) -> None:
        self.resume(node)
        if not self._end(node, signal.SIGTERM, STOP_WITHIN_S):
            self.kill(node)

    def pause(self, node: str) -> None:
        self._signal(node, signal.SIGSTOP)

    def resume(self, node: str) -> None:
        self._signal(node, signal.SIGCONT)

    def state(self) -> dict[str, NodeState]:
        _reap()
        states: dict[str, NodeState] = dict.fromkeys(self.nodes, "dead")
        states.update({one.node: "paused" if one.is_paused else "running" for one in self._mine()})
        return states

    def last_lines(self, node: str, count: int) -> list[str]:
        try:
            return self._said(node).read_text(errors="replace").splitlines()[-count:]
        except FileNotFoundError:
            return []

    def follow(self, node: str, count: int) -> Iterator[str]:
        return files.follow(self._said(node), count, goes_on=lambda: bool(self._mine()))

    def down(self) -> None:
        self._is_removed.set()
        for one in self._mine():
            processes.send(one, signal.SIGKILL)
        self._until(lambda: not self._mine(), DIE_WITHIN_S)

    def _end(self, node: str, number: signal.Signals, within_s: float) -> bool:
        self._signal(node, number)
        return self._until(lambda: self._find(node) is None, within_s)

    def _signal(self, node: str, number: signal.Signals) -> None:
        found = self._find(node)
        if found is not None:
            processes.send(found, number)

    def _mine(self) -> list[processes.Marked]:
        return [one for one in processes.scan() if (one.cluster, one.directory) == (self.cluster, self.directory)]

    def _find(self, node: str) -> processes.Marked | None:
        return next((one for one in self._mine() if one.node == node), None)

    def _until(self, condition: Callable[[], bool], within_s: float) -> bool:
        def reaped() -> bool:
            _reap()
            return condition()

        return _wait(reaped, within_s)

    def _said(self, node: str) -> Path:
        return self.directory / "logs-stderr" / f"{node}.txt"

    def _environment(self, node: str) -> dict[str, str]:
        package_parent = str(Path(node_package.__file__).resolve().parent.parent)
        path = os.pathsep.join(filter(None, (package_parent, os.environ.get("PYTHONPATH"))))
        marks = {processes.CLUSTER: self.cluster, processes.NODE: node, processes.DIR: str(self.directory)}
        return {**os.environ, "PYTHONPATH": path, **marks}


# Whatever this process has started, through whichever object: only a parent can clear away its dead children.
_children: dict[int, subprocess.Popen[bytes]] = {}


def _reap() -> None:
    for pid, child in list(_children.items()):
        if child.poll() is not None:
            _children.pop(pid, None)


def _wait(condition: Callable[[], bool], within_s: float) -> bool:
    give_up_at = time.monotonic() + within_s
    while not condition():
        if time.monotonic() >= give_up_at:
            return False
        time.sleep(POLL_S)
    return True
