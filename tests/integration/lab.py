"""A small cluster of real local processes for tests: no Docker, abstract sockets, temporary directories."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

import zmq

from node.security import ClientKeys, KeyPair, key_files, make_keys, read_client_keys
from node.sockets import Outgoing, dial

ROOT = Path(__file__).resolve().parents[2]
T = TypeVar("T")

LINE_3 = [("b1", "b2"), ("b2", "b3")]


def until(condition: Callable[[], T], what: str, timeout_s: float = 12) -> T:
    """The condition's value once it is true; fails with `what` if that takes too long."""
    pause = threading.Event()
    deadline = time.monotonic() + timeout_s
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {timeout_s} s: {what}")
        pause.wait(0.02)


class Lab:
    def __init__(
        self,
        where: Path,
        links: Sequence[tuple[str, str]] = tuple(LINE_3),
        scheme: str = "simple",
        delay_ms: float = 0,
        parameters: dict[str, Any] | None = None,
    ) -> None:
        self.where = where
        self.logs_dir = where / "logs"
        self.logs_dir.mkdir(exist_ok=True)
        self.brokers = sorted({name for link in links for name in link})
        self.keys = make_keys()
        self._scheme = scheme
        self._parameters = parameters or {}
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        prefix = f"ipc://@brokerlab-lab-{secrets.token_hex(6)}"
        doors = ("peers", "clients", "admin")
        self.endpoints: dict[str, dict[str, str]] = {
            name: {door: f"{prefix}-{name}-{door}" for door in doors} for name in self.brokers
        }
        self.endpoints["driver1"] = {"admin": f"{prefix}-driver1-admin"}
        self.gateway = f"{prefix}-gateway"
        self.topology = {
            "brokers": [{"name": name, "role": "inner", "group": name} for name in self.brokers],
            "links": [{"a": a, "b": b, "delay_ms": delay_ms, "weight": 1} for a, b in links],
        }
        for name, content in key_files(self.keys).items():
            (where / name).write_text(json.dumps(content))

    @property
    def client_keys(self) -> ClientKeys:
        return read_client_keys(key_files(self.keys)["client-keys.json"])

    def pair(self, role: str) -> KeyPair:
        return KeyPair(**self.keys[role])

    @property
    def cluster(self) -> dict[str, Any]:
        """What cluster.json holds."""
        needs = ["advertisements"] if self._scheme.startswith("covering") else []
        keys = key_files(self.keys)["client-keys.json"]
        return {"gateway": self.gateway, "keys": keys, "needs": needs, "topology": self.topology}

    def start(self, *nodes: str) -> None:
        for node in nodes:
            role = node.rstrip("0123456789") if node.rstrip("0123456789") in ("driver", "gateway") else "broker"
            self.spawn(node, role, self.configure(node, role))

    def configure(self, node: str, role: str) -> Path:
        config: dict[str, Any] = {
            "node": node,
            "cluster": "lab",
            "logs": str(self.logs_dir),
            "keys": str(self.where / f"{role}-keys.json"),
            "scheme": self._scheme,
            "parameters": self._parameters,
            "topology": self.topology,
            "endpoints": self.endpoints,
            "bind": {"gateway": self.gateway} if role == "gateway" else self.endpoints[node],
        }
        if role == "driver":
            config["plan"] = str(self.where / f"{node}.plan.jsonl")
        path = self.where / f"{node}.json"
        path.write_text(json.dumps(config))
        return path

    def spawn(self, node: str, role: str, config: Path) -> subprocess.Popen[bytes]:
        with (self.where / f"{node}.stderr").open("ab") as stderr:
            process = subprocess.Popen(
                [sys.executable, "-m", "node", role, "--config", str(config)],
                cwd=ROOT,
                stderr=stderr,
                start_new_session=True,
            )
        self._processes[node] = process
        return process

    def plan(self, *operations: dict[str, Any], node: str = "driver1") -> None:
        lines = "".join(json.dumps({"phase": "warm", "at_ms": 0, **operation}) + "\n" for operation in operations)
        (self.where / f"{node}.plan.jsonl").write_text(lines)

    def start_all(self) -> None:
        """Brokers and a driver with the plan written before, waited for."""
        self.start(*self.brokers, "driver1")
        self.wait_ready(*self.brokers, "driver1")

    def wait_ready(self, *nodes: str) -> None:
        for node in nodes:
            until(lambda node=node: (self.ask(node, "status") or {}).get("ready"), f"{node} is ready")  # type: ignore[misc]

    def ask(self, node: str, op: str, timeout_s: float = 1, **args: Any) -> dict[str, Any] | None:
        """A request at the node's own admin door; None if there is no answer."""
        server = self.keys["driver" if node.startswith("driver") else "broker"]["public"]
        socket = dial(self._context, self.endpoints[node]["admin"], self.pair("admin"), server)
        try:
            poller = zmq.Poller()
            line = Outgoing(socket, poller)
            line.put([b"lab", json.dumps({"id": 1, "op": op, **args}).encode()])
            deadline = time.monotonic() + timeout_s
            while time.monotonic() < deadline:
                line.flush()
                if dict(poller.poll(20)).get(socket, 0) & zmq.POLLIN:
                    answer: dict[str, Any] = json.loads(socket.recv_multipart()[-1])
                    return answer
            return None
        finally:
            socket.close()

    def must(self, node: str, op: str, **args: Any) -> dict[str, Any]:
        answer = self.ask(node, op, timeout_s=5, **args)
        assert answer is not None and answer["ok"], f"{node} answers {op} with {answer}"
        return answer

    def play(self, phase: str, driver: str = "driver1") -> None:
        self.must(driver, "play", phase=phase)

    def wait_done(self, driver: str = "driver1") -> None:
        until(lambda: self.must(driver, "status")["done"], f"{driver} has played its phase")

    def wait_quiet(self) -> None:
        """Two rounds of status in which nothing waits and nothing moves, as the controller does it."""
        nodes = [node for node, process in self._processes.items() if process.poll() is None and node != "gateway"]
        seen: list[Any] = [None]

        def quiet() -> bool:
            answers = [self.must(node, "status") for node in nodes]
            resting = all(answer.get("idle", not answer.get("pending")) for answer in answers)
            counters = [
                [answer.get(k) for k in ("accepted", "forwarded", "published", "delivered")] for answer in answers
            ]
            before, seen[0] = seen[0], counters if resting else None
            return resting and before == counters

        until(quiet, "the network is quiet")

    def kill(self, node: str) -> None:
        """SIGKILL, to the whole process group."""
        process = self._processes.pop(node)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(5)

    def pause(self, node: str) -> None:
        os.killpg(self._processes[node].pid, signal.SIGSTOP)

    def resume(self, node: str) -> None:
        os.killpg(self._processes[node].pid, signal.SIGCONT)

    def terminate(self, node: str) -> int:
        """SIGTERM; returns the exit status."""
        process = self._processes.pop(node)
        process.send_signal(signal.SIGTERM)
        return process.wait(5)

    def is_running(self, node: str) -> bool:
        return self._processes[node].poll() is None

    def exit_status(self, node: str) -> int:
        return self._processes[node].wait(10)

    def stderr(self, node: str) -> str:
        return (self.where / f"{node}.stderr").read_text()

    def log(self, node: str, *events: str) -> list[dict[str, Any]]:
        """The node's records of these events, all incarnations, in order; half a line at the end is passed over."""
        found = []
        paths = sorted(self.logs_dir.glob(f"{node}.*.jsonl"), key=lambda path: int(path.name.split(".")[1]))
        for path in paths:
            text = path.read_text()
            found += [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]
        return [record for record in found if not events or record["event"] in events]

    def dial(self, node: str, door: str, own: KeyPair | None = None, server: str | None = None) -> zmq.Socket[bytes]:
        """A raw connection to a door, for those who do not keep to the protocol."""
        role = {"peers": "broker", "clients": "client", "admin": "admin"}[door]
        public = server or self.keys["broker"]["public"]
        return dial(self._context, self.endpoints[node][door], own or self.pair(role), public)

    def __enter__(self) -> Lab:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in self._processes.values():
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        for process in self._processes.values():
            process.wait(5)
        self._context.destroy(linger=0)
        if error is not None:
            for path in sorted(self.where.glob("*.stderr")):
                print(f"{path.name}: {path.read_text()[-2000:]}", file=sys.stderr)
