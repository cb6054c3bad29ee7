"""What a runtime is: the nodes of one cluster, as containers or as processes, behind one interface."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import ClassVar, Literal, Protocol

from msgspec import Struct

from controller.progress import Progress
from node.strain import Strain

NodeState = Literal["running", "paused", "dead"]
GATEWAY = "gateway"
# Measured: 64 containers in 17 s with 4 threads, 20 s with 8, on 2 cores.
START_THREADS = 4


class Found(Struct, frozen=True):
    """A cluster that was found by what runs, without reading any file."""

    name: str
    runtime: str
    directory: Path
    nodes: dict[str, NodeState]


class Layout(Struct, frozen=True):
    """Where things are, seen from inside the nodes."""

    config_dir: str
    logs_dir: str
    endpoints: dict[str, dict[str, str]]
    binds: dict[str, dict[str, str]]
    port: int | None
    """The gateway's, on 127.0.0.1; None lets the runtime choose when it starts it."""


class Owner(Struct, frozen=True):
    """Whom the nodes run as; the configuration is readable by nobody else."""

    uid: int
    gid: int


def config_files(node: str, role: str) -> list[str]:
    """The files in config/ that this node reads."""
    return [f"{node}.json", f"{role}-keys.json", *([f"{node}.plan.jsonl"] if role == "driver" else [])]


class Nodes(Protocol):
    """What a campaign and its faults do to the nodes of a cluster, real or simulated."""

    def start(self, node: str) -> None: ...
    def kill(self, node: str) -> None: ...
    def stop(self, node: str) -> None: ...
    def pause(self, node: str) -> None: ...
    def resume(self, node: str) -> None: ...
    def state(self) -> dict[str, NodeState]: ...
    def last_lines(self, node: str, count: int) -> list[str]: ...
    def stop_all(self, nodes: Iterable[str]) -> None: ...
    def down(self) -> None: ...


class Runtime(ABC):
    """One cluster's nodes; stateless but for what runs, so any later command can take it up by name."""

    name: ClassVar[str]
    holds_only_node: ClassVar[bool] = False
    """Its nodes do not see what is installed beside brokerlab, only what they are given."""

    def __init__(self, cluster: str, directory: Path, nodes: Mapping[str, str]) -> None:
        self.cluster = cluster
        self.directory = directory
        self.nodes = dict(nodes)
        """Name → role: `broker`, `driver` or `gateway`."""

    @classmethod
    @abstractmethod
    def check(cls) -> None:
        """Raise EnvironmentProblem if this machine cannot run it."""

    @classmethod
    @abstractmethod
    def owner(cls) -> Owner: ...

    @classmethod
    @abstractmethod
    def discover(cls) -> list[Found]:
        """All clusters of this runtime that have anything left running or lying about."""

    @classmethod
    @abstractmethod
    def remove_all(cls) -> list[str]:
        """Remove everything of ours, needing no file; returns what was removed, for people."""

    @abstractmethod
    def layout(self, port: int | None) -> Layout:
        """Settled once, before the configuration is written."""

    @abstractmethod
    def up(self, layout: Layout, progress: Progress, packages: Sequence[str] = ()) -> str:
        """Start every node, with these packages beside it; returns the gateway's endpoint for programs on this host."""

    @abstractmethod
    def start(self, node: str) -> None:
        """Start a dead node again, as its next incarnation."""

    @abstractmethod
    def kill(self, node: str) -> None:
        """SIGKILL, whatever the node is doing; returns when it is dead."""

    @abstractmethod
    def stop(self, node: str) -> None:
        """The orderly end: SIGTERM, and only if that does not help within seconds SIGKILL."""

    @abstractmethod
    def pause(self, node: str) -> None: ...

    @abstractmethod
    def resume(self, node: str) -> None: ...

    def confine(self, node: str, strain: Strain) -> Strain:
        """Put a broker under what the runtime itself can put it under; returns what the broker has to do to itself."""
        return strain

    @abstractmethod
    def state(self) -> dict[str, NodeState]: ...

    @abstractmethod
    def last_lines(self, node: str, count: int) -> list[str]:
        """What the node said last on stdout and stderr."""

    @abstractmethod
    def follow(self, node: str, count: int) -> Iterator[str]:
        """The same, and whatever it says from now on, also when it was started again."""

    @abstractmethod
    def down(self) -> None:
        """Remove every trace of the cluster but its run directory; harmless if there is none."""

    def restart(self, node: str) -> None:
        self.kill(node)
        self.start(node)

    def stop_all(self, nodes: Iterable[str]) -> None:
        in_parallel(self.stop, nodes)


def in_parallel(work: Callable[[str], None], names: Iterable[str]) -> None:
    """All of it is tried; the first failure, in the order of names, is raised at the end."""
    pool = ThreadPoolExecutor(START_THREADS)
    try:
        futures = [pool.submit(work, name) for name in names]
        wait(futures)
    except BaseException:
        # Interrupted: what has not begun never will, so that nothing appears after everything was removed.
        pool.shutdown(cancel_futures=True)
        raise
    pool.shutdown()
    for future in futures:
        future.result()
