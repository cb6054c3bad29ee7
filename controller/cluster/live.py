"""A cluster that runs: found by its name, asked through its gateway."""

from __future__ import annotations

import time
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec
from msgspec import Struct

from controller import runtimes, topology
from controller.errors import BrokerlabError, NoAnswer, UsageError
from controller.runtimes.base import Runtime
from controller.topology import Topology
from controller.yamlfile import known
from node.admin import AdminChannel
from node.shaping import Shape
from node.strain import Strain

STATUS_WITHIN_S = 2.0
SHAPE_WITHIN_S = 5.0
FILE = "cluster.json"

Status = dict[str, Any]


class ClusterFacts(Struct):
    """cluster.json, as far as the controller needs it; programs that only want to be clients read it too."""

    name: str
    runtime: str
    scheme: str
    needs: list[str]
    gateway: str
    keys: dict[str, Any]
    topology: dict[str, Any]
    nodes: dict[str, str]


class LiveCluster:
    def __init__(self, facts: ClusterFacts, runtime: Runtime) -> None:
        self.facts = facts
        self.runtime = runtime
        self.name = facts.name
        self.directory = runtime.directory
        self.topology: Topology = topology.from_json(facts.topology)
        self.brokers = tuple(name for name, role in facts.nodes.items() if role == "broker")
        self.drivers = tuple(name for name, role in facts.nodes.items() if role == "driver")

    @cached_property
    def admin(self) -> AdminChannel:
        return AdminChannel(self.facts.gateway, self.facts.keys)

    def statuses(self, nodes: Iterable[str], within_s: float = STATUS_WITHIN_S) -> dict[str, Status | None]:
        """None for a node that does not answer, or answers that it cannot."""
        answers = self.admin.request_all(list(nodes), "status", within_s)
        return {node: one if one is not None and one.get("ok") else None for node, one in answers.items()}

    def is_ready(self, broker: str) -> bool:
        status = self.statuses([broker], 1.0)[broker]
        return status is not None and bool(status["ready"])

    def answers(self, broker: str) -> bool:
        return self.statuses([broker], 1.0)[broker] is not None

    def request(self, node: str, op: str, within_s: float = 5, **arguments: Any) -> dict[str, Any]:
        try:
            answer = self.admin.request(node, op, within_s, **arguments)
        except TimeoutError:
            raise NoAnswer(
                f"{node} did not answer `{op}` within {within_s:g} s; see `brokerlab logs {node} --stderr`"
            ) from None
        if answer.get("absent"):
            raise NoAnswer(f"{node} cannot be asked for `{op}`: {answer.get('error')}")
        if not answer.get("ok"):
            raise BrokerlabError(f"{node} refused `{op}`: {answer.get('error')}")
        return answer

    def play(self, driver: str, phase: str) -> None:
        self.request(driver, "play", phase=phase)

    def now_s(self) -> float:
        return time.monotonic()

    def wall_ns(self) -> int:
        return time.time_ns()

    def sleep(self, seconds: float) -> None:
        time.sleep(max(0.0, seconds))

    def shape(self, broker: str, peer: str, shape: Shape) -> None:
        self.request(broker, "shape", SHAPE_WITHIN_S, peer=peer, shape=msgspec.to_builtins(shape))

    def confine(self, broker: str, strain: Strain) -> Strain:
        return self.runtime.confine(broker, strain)

    def strain(self, broker: str, strain: Strain) -> None:
        self.request(broker, "strain", SHAPE_WITHIN_S, strain=msgspec.to_builtins(strain))

    def close(self) -> None:
        if "admin" in self.__dict__:
            self.admin.close()
            del self.admin

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def attach(name: str | None, choose: str = "--cluster NAME") -> LiveCluster:
    """The running cluster of that name; without a name the only one there is. `choose` says how one is named."""
    found = runtimes.discover()
    if name is None:
        if not found:
            raise UsageError("no cluster is running; start one with `brokerlab up line-3` or `make cluster-up`")
        if len(found) > 1:
            raise UsageError(
                f"several clusters are running; choose one with {choose}: {', '.join(one.name for one in found)}"
            )
        name = found[0].name
    for one in found:
        if one.name == name:
            return read(one.directory)
    raise UsageError(f"no cluster `{name}` is running; {known(name, [one.name for one in found])}")


def read(directory: Path) -> LiveCluster:
    path = directory / FILE
    try:
        facts = msgspec.json.decode(path.read_bytes(), type=ClusterFacts)
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read ({error.strerror}): the cluster is half started or its directory is gone; "
            "`brokerlab down --all` removes it"
        ) from None
    except msgspec.MsgspecError as error:
        raise UsageError(f"{path} is damaged ({error}); `brokerlab down --all` removes the cluster") from None
    return LiveCluster(facts, runtimes.find(facts.runtime)(facts.name, directory, facts.nodes))
