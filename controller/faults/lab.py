"""A running cluster as the faults see it. Remembers what each fault asks for; a restarted broker does not."""

from __future__ import annotations

import contextlib
from typing import Any, Protocol

from msgspec import structs

from controller.errors import BrokerlabError
from controller.faults.base import Fault, Load, Wish
from controller.runtimes.base import Nodes, NodeState
from controller.topology import Link, Topology
from node.shaping import Shape
from node.strain import Strain

_SHAPED = tuple(name for name in Wish.__struct_fields__ if name != "direction")


class Cluster(Protocol):
    """The part of a live cluster that is asked to break."""

    @property
    def runtime(self) -> Nodes: ...
    @property
    def topology(self) -> Topology: ...
    @property
    def drivers(self) -> tuple[str, ...]: ...
    def now_s(self) -> float: ...
    def is_ready(self, broker: str) -> bool: ...
    def answers(self, broker: str) -> bool: ...
    def statuses(self, nodes: list[str], within_s: float = ...) -> dict[str, dict[str, Any] | None]: ...
    def shape(self, broker: str, peer: str, shape: Shape) -> None: ...
    def strain(self, broker: str, strain: Strain) -> None: ...
    def request(self, node: str, op: str, within_s: float = ..., **arguments: Any) -> dict[str, Any]: ...


class ClusterLab:
    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._wishes: dict[str, tuple[Fault, Wish]] = {}
        self._loads: dict[str, tuple[Fault, Load]] = {}
        self._holds: dict[str, Fault] = {}
        """Faults that keep a broker dead, a broker paused, a client away."""
        self._notes: dict[str, dict[str, Any]] = {}
        self._touched: set[str] = set()
        """Links and brokers of which something was asked at any time."""
        self._untold: set[str] = set()
        """Brokers that were started and do not know yet what is asked of them."""

    def recall(self, fault: Fault, asked: Wish | Load | None) -> None:
        """An earlier command did this; the brokers know, only this process does not."""
        self._touched.add(fault.name)
        if isinstance(asked, Wish):
            self._wishes[fault.id] = (fault, asked)
        elif isinstance(asked, Load):
            self._loads[fault.id] = (fault, asked)
        else:
            self._holds[fault.id] = fault

    def notes(self, fault: Fault) -> dict[str, Any]:
        return self._notes.setdefault(fault.id, {})

    def forget(self, fault: Fault) -> None:
        self._notes.pop(fault.id, None)

    def now_s(self) -> float:
        return self._cluster.now_s()

    def kill(self, fault: Fault) -> None:
        self._holds[fault.id] = fault
        self._cluster.runtime.kill(fault.name)

    def leave(self, broker: str) -> None:
        self._cluster.request(broker, "leave")

    def has_left(self, broker: str) -> bool:
        status = self.status(broker)
        return status is not None and bool(status["left"])

    def stop(self, fault: Fault) -> None:
        self._holds[fault.id] = fault
        self._cluster.runtime.stop(fault.name)

    def start(self, fault: Fault) -> None:
        self._holds.pop(fault.id, None)
        if not self._held(fault, "kill", "restart", "stop"):
            self._untold.add(fault.name)
            self._cluster.runtime.start(fault.name)

    def pause(self, fault: Fault) -> None:
        self._holds[fault.id] = fault
        self._cluster.runtime.pause(fault.name)

    def resume(self, fault: Fault) -> None:
        self._holds.pop(fault.id, None)
        if self._held(fault, "pause"):
            return
        self._cluster.runtime.resume(fault.name)
        if self.state(fault.name) == "running" and fault.name not in self._untold:
            self._tell(fault.name)

    def _held(self, fault: Fault, *kinds: str) -> bool:
        return any(one.target == fault.target and one.kind in kinds for one in self._holds.values())

    def state(self, broker: str) -> NodeState:
        return self._cluster.runtime.state()[broker]

    def neighbours(self, broker: str) -> tuple[str, ...]:
        return self._cluster.topology.neighbours(broker)

    def answers(self, broker: str) -> bool:
        return self._cluster.answers(broker)

    def status(self, node: str) -> dict[str, Any] | None:
        return self._cluster.statuses([node], 1.0)[node]

    def is_ready(self, broker: str) -> bool:
        """A broker that came back without the shapes of its links is not: it would talk over a link that is cut."""
        if broker in self._untold:
            if not self._cluster.answers(broker):
                return False
            self._tell(broker)
            self._untold.discard(broker)
        return self._cluster.is_ready(broker)

    def shape(self, fault: Fault, wish: Wish) -> None:
        self._touched.add(fault.name)
        self._wishes[fault.id] = (fault, wish)
        self._shape_both_ends(fault.name)

    def unshape(self, fault: Fault) -> None:
        self._wishes.pop(fault.id, None)
        self._shape_both_ends(fault.name)

    def shapes(self, link: str) -> dict[tuple[str, str], Shape]:
        one = self._cluster.topology.link(link)
        forth, back = self._wanted(one, "forth"), self._wanted(one, "back")
        # Cut means that nothing is sent, and that what was sent before is not heard any more.
        return {
            (one.a, one.b): structs.replace(forth, deaf=back.cut),
            (one.b, one.a): structs.replace(back, deaf=forth.cut),
        }

    def _wanted(self, link: Link, direction: str) -> Shape:
        wanted: dict[str, Any] = {}
        for fault, wish in self._wishes.values():
            if link.name == fault.name and wish.direction in ("both", direction):
                wanted |= {name: value for name in _SHAPED if (value := getattr(wish, name)) is not None}
        own = Shape(link.delay_ms, jitter_ms=link.jitter_ms, loss=link.loss, rate_kbps=link.rate_kbps)
        return structs.replace(own, **wanted)

    def load(self, fault: Fault, load: Load) -> None:
        self._touched.add(fault.name)
        self._loads[fault.id] = (fault, load)
        self._strain(fault.name)

    def unload(self, fault: Fault) -> None:
        self._loads.pop(fault.id, None)
        self._strain(fault.name)

    def strain(self, broker: str) -> Strain:
        wanted: dict[str, Any] = {}
        for fault, load in self._loads.values():
            if fault.name == broker:
                wanted |= {name: value for name, value in structs.asdict(load).items() if value is not None}
        return Strain(**wanted)

    def _strain(self, broker: str) -> None:
        if self.state(broker) == "running" and broker not in self._untold:
            self._cluster.strain(broker, self.strain(broker))

    def probe(self, sender: str, receiver: str, token: str, count: int, size: int) -> None:
        self._cluster.request(sender, "probe", peer=receiver, token=token, count=count, size=size)

    def probed(self, receiver: str, token: str) -> dict[str, Any]:
        return self._cluster.request(receiver, "probed", token=token)

    def effort(self, broker: str, ms: int) -> dict[str, Any]:
        return self._cluster.request(broker, "effort", ms=ms)

    def send_away(self, fault: Fault, how: str) -> None:
        self._holds[fault.id] = fault
        self._of_client(fault.name, "away", how=how)

    def call_back(self, fault: Fault) -> None:
        self._holds.pop(fault.id, None)
        if not any(one.target == fault.target for one in self._holds.values()):
            self._of_client(fault.name, "back")

    def is_away(self, client: str) -> bool:
        answers = self._cluster.statuses(list(self._cluster.drivers)).values()
        return any(client in answer["away"] for answer in answers if answer is not None)

    def _of_client(self, client: str, op: str, **arguments: Any) -> None:
        for driver in self._cluster.drivers:
            with contextlib.suppress(BrokerlabError):
                self._cluster.request(driver, op, client=client, **arguments)
                return
        raise BrokerlabError(f"no driver plays a client `{client}` yet; faults on clients are for campaigns")

    def _shape_both_ends(self, name: str) -> None:
        states = self._cluster.runtime.state()
        for (broker, peer), shape in self.shapes(name).items():
            # One that is dead or paused hears of it when it comes back.
            if states[broker] == "running" and broker not in self._untold:
                self._cluster.shape(broker, peer, shape)

    def _tell(self, broker: str) -> None:
        """Everything that is asked of this broker and of its links, and is not asked any more."""
        for link in self._cluster.topology.links:
            if broker in (link.a, link.b) and link.name in self._touched:
                for (end, peer), shape in self.shapes(link.name).items():
                    if end == broker:
                        self._cluster.shape(broker, peer, shape)
        if broker in self._touched:
            self._cluster.strain(broker, self.strain(broker))
