"""Brokers as containers on a network of their own: the real thing."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import structs

from controller.errors import EnvironmentProblem, UsageError
from controller.files import POLL_S
from controller.progress import Progress
from controller.runtimes import engine, network, ports
from controller.runtimes.base import GATEWAY, Found, Layout, NodeState, Owner, Runtime, config_files, in_parallel
from node.strain import Strain

if TYPE_CHECKING:
    from docker.models.containers import Container

CONFIG, LOGS = "/config", "/logs"
GATEWAY_PORT = 7000
PORTS = {"broker": {"peers": 7001, "clients": 7002, "admin": 7003}, "driver": {"admin": 7003}}
# Root would see the files of every cluster; any other unprivileged number would do as well.
UID_INSTEAD_OF_ROOT = 10001
MEMORY = {"broker": "256m", "driver": "512m", "gateway": "128m"}
PIDS_MAX = 64
STOP_WITHIN_S = 5
# Short, so that a throttled broker is slow throughout and not asleep for most of a second.
CPU_PERIOD_US_MIN = 10_000
# Less than that the kernel does not give.
CPU_QUOTA_US_MIN = 1_000
UNLIMITED = -1


class DockerRuntime(Runtime):
    name = "docker"
    holds_only_node = True

    def __init__(self, cluster: str, directory: Path, nodes: Mapping[str, str]) -> None:
        super().__init__(cluster, directory, nodes)
        self._network_name = f"brokerlab-{cluster}"
        self._is_removed = threading.Event()

    @classmethod
    def check(cls) -> None:
        engine.client()

    @classmethod
    def owner(cls) -> Owner:
        if os.getuid() == 0:
            return Owner(UID_INSTEAD_OF_ROOT, UID_INSTEAD_OF_ROOT)
        return Owner(os.getuid(), os.getgid())

    @classmethod
    def discover(cls) -> list[Found]:
        if not engine.is_available():
            return []
        clusters: dict[str, Found] = {}
        for one in engine.client().api.networks(filters=engine.OURS):
            _found(clusters, one["Labels"])
        for one in _containers(engine.OURS):
            labels = one["Labels"]
            _found(clusters, labels).nodes[labels[engine.NODE]] = _state(one["State"])
        return list(clusters.values())

    @classmethod
    def remove_all(cls) -> list[str]:
        return _remove(engine.OURS) if engine.is_available() else []

    def layout(self, port: int | None) -> Layout:
        in_cluster = {name: PORTS[role] for name, role in self.nodes.items() if role in PORTS}
        return Layout(
            config_dir=CONFIG,
            logs_dir=LOGS,
            endpoints={
                name: {channel: f"tcp://{name}:{number}" for channel, number in channels.items()}
                for name, channels in in_cluster.items()
            },
            binds={
                **{
                    name: {channel: f"tcp://*:{number}" for channel, number in channels.items()}
                    for name, channels in in_cluster.items()
                },
                GATEWAY: {"gateway": f"tcp://*:{GATEWAY_PORT}"},
            },
            port=port,
        )

    def up(self, layout: Layout, progress: Progress, packages: Sequence[str] = ()) -> str:
        from controller.image import ensure_image

        image = ensure_image(progress, packages)
        with engine.refusals_told():
            addresses = network.create(self._network_name, self._labels(), list(self.nodes))
            with progress.bar("starting", len(self.nodes)) as bar:

                def launch(node: str) -> None:
                    self._launch(node, image, layout.port, addresses)
                    bar.advance(node)

                in_parallel(launch, self.nodes)
            return ports.endpoint(self._published_port())

    def start(self, node: str) -> None:
        with engine.refusals_told():
            self._container(node).start()

    def kill(self, node: str) -> None:
        container = self._container(node)
        state = self._state_of(node)
        if state == "paused":
            # The engine refuses to signal what is frozen.
            container.unpause()
        if state != "dead":
            with engine.may_be_gone():
                container.kill("SIGKILL")
            container.wait()

    def stop(self, node: str) -> None:
        container = self._container(node)
        state = self._state_of(node)
        if state == "paused":
            container.unpause()
        if state != "dead":
            container.stop(timeout=STOP_WITHIN_S)

    def pause(self, node: str) -> None:
        if self._state_of(node) == "running":
            with engine.refusals_told():
                self._container(node).pause()

    def resume(self, node: str) -> None:
        if self._state_of(node) == "paused":
            with engine.refusals_told():
                self._container(node).unpause()

    def confine(self, node: str, strain: Strain) -> Strain:
        """Processor and memory by the container's own limits, isolation by taking it off the network."""
        from docker.utils import parse_bytes

        container = self._container(node)
        memory = int(parse_bytes(MEMORY["broker"]))
        if strain.memory_mb is not None:
            memory = min(memory, strain.memory_mb << 20)
        period, quota = cpu_period_and_quota_us(strain.cpu_share)
        limits = container.attrs["HostConfig"]
        with engine.refusals_told():
            if (limits["Memory"], limits["CpuQuota"] or UNLIMITED) != (memory, quota):
                with _told_if_used(node, memory):
                    container.update(cpu_period=period, cpu_quota=quota, mem_limit=memory, memswap_limit=memory)
            network.attach(self._network_name, container, node, is_attached=not strain.isolated)
        return structs.replace(strain, cpu_share=1, memory_mb=None, isolated=False)

    def state(self) -> dict[str, NodeState]:
        states: dict[str, NodeState] = dict.fromkeys(self.nodes, "dead")
        states.update({one["Labels"][engine.NODE]: _state(one["State"]) for one in _containers(self._filter())})
        return states

    def last_lines(self, node: str, count: int) -> list[str]:
        with engine.may_be_gone():
            said: bytes = self._container(node).logs(tail=count)
            return said.decode(errors="replace").splitlines()
        return []

    def follow(self, node: str, count: int) -> Iterator[str]:
        container = self._container(node)
        yield from _lines(container.logs(tail=count, stream=True, follow=True))
        started_at = container.attrs["State"]["StartedAt"]
        # The engine's stream ends with the container; what it says in its next life is a stream of its own.
        while self._is_there(node):
            container.reload()
            if container.attrs["State"]["StartedAt"] == started_at:
                time.sleep(POLL_S)
                continue
            started_at = container.attrs["State"]["StartedAt"]
            since = datetime.fromisoformat(started_at)
            yield from _lines(container.logs(since=since.timestamp(), stream=True, follow=True))

    def _is_there(self, node: str) -> bool:
        return any(one["Labels"][engine.NODE] == node for one in _containers(self._filter()))

    def down(self) -> None:
        self._is_removed.set()
        _remove(self._filter())

    def _filter(self) -> dict[str, Any]:
        return {"label": [f"{engine.LABEL}=1", f"{engine.CLUSTER}={self.cluster}"]}

    def _labels(self) -> dict[str, str]:
        return {engine.LABEL: "1", engine.CLUSTER: self.cluster, engine.DIR: str(self.directory)}

    def _launch(self, node: str, image: str, port: int | None, addresses: Mapping[str, str]) -> None:
        from docker.errors import APIError

        client = engine.client()
        role = self.nodes[node]
        owner = self.owner()
        container = client.containers.create(
            image,
            [role, "--config", f"{CONFIG}/{node}.json"],
            name=f"brokerlab-{self.cluster}-{node}",
            hostname=node,
            labels={**self._labels(), engine.NODE: node},
            network=self._network_name,
            networking_config={self._network_name: network.endpoint(node, addresses[node])},
            ports={f"{GATEWAY_PORT}/tcp": (ports.HOST, port or 0)} if role == GATEWAY else None,
            user=f"{owner.uid}:{owner.gid}",
            cap_drop=["ALL"],
            security_opt=["no-new-privileges"],
            read_only=True,
            mem_limit=MEMORY[role],
            memswap_limit=MEMORY[role],
            pids_limit=PIDS_MAX,
            init=True,
            # Names come from a file: the engine's DNS does not know a dead node and takes ten seconds to say so, and a
            # socket that reconnects would hang in that question. What is asked all the same goes nowhere.
            extra_hosts=dict(addresses),
            dns=["127.0.0.1"],
            volumes=self._volumes(node, role),
        )
        try:
            container.start()
        except APIError as error:
            told = str(error)
            if port is not None and ("address already in use" in told or "port is already allocated" in told):
                raise ports.in_use(port) from None
            raise
        if self._is_removed.is_set():
            # Interrupted and removed while this one was on its way: it must not be left over.
            container.remove(force=True)

    def _volumes(self, node: str, role: str) -> dict[str, dict[str, str]]:
        """Its own configuration and its role's keys, not the whole directory: no node sees another role's secrets."""
        config = self.directory / "config"
        mounts = {str(config / name): {"bind": f"{CONFIG}/{name}", "mode": "ro"} for name in config_files(node, role)}
        return {**mounts, str(self.directory / "logs"): {"bind": LOGS, "mode": "rw"}}

    def _published_port(self) -> int:
        gateway = self._container(GATEWAY)
        bindings = gateway.attrs["NetworkSettings"]["Ports"].get(f"{GATEWAY_PORT}/tcp")
        if not bindings:
            raise EnvironmentProblem(
                "the gateway's container ended at once; " + " / ".join(self.last_lines(GATEWAY, 5))
            )
        return int(bindings[0]["HostPort"])

    def _container(self, node: str) -> Container:
        from docker.errors import NotFound

        try:
            return engine.client().containers.get(f"brokerlab-{self.cluster}-{node}")
        except NotFound:
            raise UsageError(f"no container for `{node}` of cluster {self.cluster}; see `brokerlab ps`") from None

    def _state_of(self, node: str) -> NodeState:
        return self.state()[node]


@contextmanager
def _told_if_used(node: str, memory: int) -> Iterator[None]:
    from docker.errors import APIError

    try:
        yield
    except APIError as error:
        if "memory" in str(error) and "resource busy" in str(error):
            raise UsageError(
                f"{node} already uses more than {memory >> 20} MB, and Docker sets no limit below that; allow it more"
            ) from None
        raise


def cpu_period_and_quota_us(share: float) -> tuple[int, int]:
    if share == 1:
        return CPU_PERIOD_US_MIN, UNLIMITED
    period = max(CPU_PERIOD_US_MIN, ceil(CPU_QUOTA_US_MIN / share))
    return period, max(CPU_QUOTA_US_MIN, round(period * share))


def _lines(chunks: Iterable[bytes]) -> Iterator[str]:
    said = ""
    for chunk in chunks:
        *lines, said = (said + chunk.decode(errors="replace")).split("\n")
        yield from lines


def _containers(filters: Mapping[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = engine.client().api.containers(all=True, filters=dict(filters))
    return found


def _found(clusters: dict[str, Found], labels: Mapping[str, str]) -> Found:
    name = labels[engine.CLUSTER]
    return clusters.setdefault(name, Found(name, DockerRuntime.name, Path(labels[engine.DIR]), {}))


def _state(word: str) -> NodeState:
    return {"running": "running", "paused": "paused"}.get(word, "dead")  # type: ignore[return-value]


def _remove(filters: Mapping[str, Any]) -> list[str]:
    client = engine.client()
    containers = {one["Id"]: one["Names"][0].lstrip("/") for one in _containers(filters)}

    def remove(container_id: str) -> None:
        with engine.may_be_gone():
            client.api.remove_container(container_id, force=True, v=True)

    in_parallel(remove, containers)
    networks = {one["Id"]: one["Name"] for one in client.api.networks(filters=dict(filters))}
    for network_id in networks:
        with engine.may_be_gone():
            client.api.remove_network(network_id)
    return [*(f"container {name}" for name in containers.values()), *(f"network {name}" for name in networks.values())]
