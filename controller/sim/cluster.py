"""A simulated cluster, as a campaign and its faults see one; and the wire between its nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import ceil
from typing import Any

import msgspec

from controller.cluster import files
from controller.cluster.spec import ClusterSpec, find_scheme
from controller.errors import BrokerlabError
from controller.interrupts import held
from controller.progress import Progress
from controller.runtimes.base import NodeState
from controller.sim.broker import SimBroker
from controller.sim.disk import LogFiles, MemoryStore, Shelf
from controller.sim.driver import SimDriver
from controller.sim.kernel import EPOCH_NS, START_NS, Kernel
from controller.sim.requests import answer
from controller.topology import Topology
from node import config as nodes
from node.cast import Unplayable
from node.core.messages import broker_port, client_port
from node.core.session import Frame
from node.plan import parse_plan
from node.shaping import Line, Shape
from node.strain import Strain

SECOND_NS = 1_000_000_000
EVENTS_AT_ONCE = 1_000
READY_POLL_S = 0.1
READY_WITHIN_S = 120.0


class SimNodes:
    """The nodes of a simulated cluster, where those of a live one are processes; also the wire between them."""

    def __init__(self, spec: ClusterSpec, shelf: Shelf) -> None:
        self.kernel = Kernel()
        self._spec = spec
        self._shelf = shelf
        self._topology = msgspec.convert(spec.topology.to_json(), nodes.Topology)
        self.hop_ns = round(spec.sim.hop_us * 1_000)
        self._disks = {name: MemoryStore() for name in spec.topology.broker_names}
        self._incs = dict.fromkeys(spec.topology.broker_names, 0)
        self.brokers: dict[str, SimBroker] = {}
        for name in spec.topology.broker_names:
            self.start(name)
        self.drivers: dict[str, SimDriver] = {}
        self._driver_of: dict[str, SimDriver] = {}
        scheme = find_scheme(spec.scheme)
        for name, plan in spec.plans.items():
            played = parse_plan(plan.encoded(), name)
            driver = SimDriver(self.kernel, self, name, played, scheme, self.brokers, shelf.log(name, 1), spec.sim)
            self.drivers[name] = driver
            self._driver_of.update(dict.fromkeys(plan.clients, driver))

    def start(self, node: str) -> None:
        self._incs[node] += 1
        inc, spec = self._incs[node], self._spec
        config = nodes.Config(
            node=node,
            cluster=str(spec.seed),
            logs="",
            keys="",
            scheme=spec.scheme,
            parameters=spec.parameters,
            topology=self._topology,
            log=spec.log,
            clients_wait_s=spec.clients_wait_s,
        )
        log = self._shelf.log(node, inc)
        self.brokers[node] = SimBroker(self.kernel, self, spec.sim, config, inc, self._disks[node], log)

    def kill(self, node: str) -> None:
        self.brokers[node].kill()

    def stop(self, node: str) -> None:
        self.brokers[node].stop()

    def pause(self, node: str) -> None:
        self.brokers[node].pause()

    def resume(self, node: str) -> None:
        self.brokers[node].resume()

    def state(self) -> dict[str, NodeState]:
        return {name: _state(broker) for name, broker in self.brokers.items()}

    def last_lines(self, node: str, count: int) -> list[str]:
        return (self.brokers[node].story or [])[-count:]

    def stop_all(self, nodes: Iterable[str]) -> None:
        """Orderly; a node that is no part of a simulated cluster, such as the gateway, has nothing to stop."""
        for node in nodes:
            one = self.brokers.get(node) or self.drivers.get(node)
            if one is not None:
                one.stop()

    def down(self) -> None:
        self.stop_all([*self.drivers, *self.brokers])

    def to_broker(self, sender: SimBroker, peer: str, line: Line, frame: Frame[bytes], due: int) -> None:
        line.held += 1
        self.kernel.at(due + self.hop_ns, self._at_broker, sender, peer, line, frame)

    def _at_broker(self, sender: SimBroker, peer: str, line: Line, frame: Frame[bytes]) -> None:
        if not self._has_left(sender, self._at_broker, sender, peer, line, frame):
            return
        line.held -= 1
        receiver = self.brokers[peer]
        # What is under way when a link is cut is lost with it.
        if receiver.is_alive and not line.is_cut(self.kernel.now):
            receiver.arrive(broker_port(sender.name), frame)

    def to_client(self, sender: SimBroker, client: str, frame: Frame[bytes]) -> None:
        self.kernel.at(self.kernel.now + self.hop_ns, self._at_client, sender, client, frame)

    def _at_client(self, sender: SimBroker, client: str, frame: Frame[bytes]) -> None:
        if self._has_left(sender, self._at_client, sender, client, frame):
            self._driver_of[client].arrive(client, sender.name, frame)

    def _has_left(self, sender: SimBroker, what: Callable[..., None], *args: Any) -> bool:
        """Frames under way are in the sender's memory: a dead one's are lost, a paused one's wait until it goes on."""
        if sender.is_paused and sender.is_alive:
            sender.frozen.append((what, args))
        return sender.is_alive and not sender.is_paused

    def from_client(self, client: str, broker: str, frame: Frame[bytes]) -> None:
        self.kernel.at(self.kernel.now + self.hop_ns, self._from_client, client, broker, frame)

    def _from_client(self, client: str, broker: str, frame: Frame[bytes]) -> None:
        receiver = self.brokers[broker]
        if receiver.is_alive:
            receiver.arrive(client_port(client), frame)


def _state(broker: SimBroker) -> NodeState:
    if not broker.is_alive:
        return "dead"
    return "paused" if broker.is_paused else "running"


class SimCluster:
    """What `LiveCluster` is to real nodes."""

    def __init__(self, spec: ClusterSpec, shelf: Shelf) -> None:
        self.name = spec.name
        self.directory = spec.directory
        self.topology: Topology = spec.topology
        self.brokers = spec.topology.broker_names
        self.drivers = tuple(spec.plans)
        self.runtime = SimNodes(spec, shelf)

    def now_s(self) -> float:
        return self.runtime.kernel.now / SECOND_NS

    def wall_ns(self) -> int:
        return EPOCH_NS + self.runtime.kernel.now - START_NS

    def sleep(self, seconds: float) -> None:
        """Let so much virtual time pass; an interrupt waits for the end of an event, so that no log is torn.

        Never none at all: who waits for a moment that sums of floats miss by a hair finds it come.
        """
        kernel = self.runtime.kernel
        until = kernel.now + max(1, ceil(seconds * SECOND_NS))
        is_done = False
        while not is_done:
            with held():
                is_done = kernel.run(until, EVENTS_AT_ONCE)

    def statuses(self, nodes: Iterable[str], within_s: float = 0) -> dict[str, dict[str, Any] | None]:
        brokers, drivers = self.runtime.brokers, self.runtime.drivers
        return {node: brokers[node].status() if node in brokers else drivers[node].status() for node in nodes}

    def is_ready(self, broker: str) -> bool:
        status = self.runtime.brokers[broker].status()
        return status is not None and bool(status["ready"])

    def answers(self, broker: str) -> bool:
        return self.runtime.brokers[broker].status() is not None

    def play(self, driver: str, phase: str) -> None:
        try:
            self.runtime.drivers[driver].play(phase)
        except Unplayable as error:
            raise BrokerlabError(f"{driver} refused `play`: {error}") from None

    def shape(self, broker: str, peer: str, shape: Shape) -> None:
        self.runtime.brokers[broker].lines[peer].change(shape)

    def confine(self, broker: str, strain: Strain) -> Strain:
        """There is no machine around a simulated broker that could do anything to it."""
        return strain

    def strain(self, broker: str, strain: Strain) -> None:
        self.runtime.brokers[broker].put_under(strain)

    def request(self, node: str, op: str, within_s: float = 0, **arguments: Any) -> dict[str, Any]:
        """What a live node would be asked by its admin channel."""
        return answer(self.runtime, node, op, arguments)

    def close(self) -> None:
        """Nothing is held that would have to be given back."""


def up(spec: ClusterSpec, progress: Progress) -> SimCluster:
    """Its run directory, and brokers that have found each other."""
    spec.check()
    files.write_run(spec)
    return start(spec, LogFiles(spec.directory / "logs"), progress)


def start(spec: ClusterSpec, shelf: Shelf, progress: Progress) -> SimCluster:
    """Brokers that have found each other; nothing is written but what the shelf takes."""
    cluster = SimCluster(spec, shelf)
    started_s = cluster.now_s()
    waiting = list(cluster.brokers)
    with progress.bar("ready", len(waiting)) as bar:
        while waiting:
            cluster.sleep(READY_POLL_S)
            for name, state in cluster.runtime.state().items():
                if state == "dead":
                    raise BrokerlabError(f"{name} ended before it was ready: {cluster.runtime.last_lines(name, 1)[0]}")
            waiting = [name for name in waiting if not cluster.is_ready(name)]
            bar.to(len(cluster.brokers) - len(waiting))
            if waiting and cluster.now_s() - started_s > READY_WITHIN_S:
                raise BrokerlabError(f"{waiting[0]} is not ready after {READY_WITHIN_S:g} s of virtual time")
    return cluster
