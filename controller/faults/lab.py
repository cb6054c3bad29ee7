"""A running cluster as the faults see it."""

from __future__ import annotations

from typing import Any, Protocol

from controller.errors import BrokerlabError, NoAnswer
from controller.faults.base import Fault, Load, Wish
from controller.faults.orders import Orders, Told
from controller.runtimes.base import NodeState
from node.shaping import Shape
from node.strain import Strain


class Cluster(Told, Protocol):
    """The part of a live cluster that is asked to break."""

    @property
    def drivers(self) -> tuple[str, ...]: ...
    def now_s(self) -> float: ...
    def is_ready(self, broker: str) -> bool: ...
    def answers(self, broker: str) -> bool: ...
    def request(self, node: str, op: str, within_s: float = ..., **arguments: Any) -> dict[str, Any]: ...


class ClusterLab:
    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._orders = Orders(cluster)
        self._holds: dict[str, Fault] = {}
        """Faults that keep a broker dead, a broker paused, a client away."""
        self._notes: dict[str, dict[str, Any]] = {}

    def recall(self, fault: Fault, asked: Wish | Load | None) -> None:
        """An earlier command did this; the brokers know, only this process does not."""
        if asked is None:
            self._holds[fault.id] = fault
        else:
            self._orders.recall(fault, asked)

    def recall_healed(self, fault: Fault) -> None:
        """An earlier command began to heal this, and nobody knows how far it came."""
        self._orders.doubt(fault)

    def notes(self, fault: Fault) -> dict[str, Any]:
        return self._notes.setdefault(fault.id, {})

    def forget(self, fault: Fault) -> None:
        self._notes.pop(fault.id, None)

    def now_s(self) -> float:
        return self._cluster.now_s()

    def catch_up(self) -> None:
        self._orders.catch_up()

    def kill(self, fault: Fault) -> None:
        self._holds[fault.id] = fault
        self._cluster.runtime.kill(fault.name)

    def leave(self, broker: str) -> None:
        self._cluster.request(broker, "leave")

    def stop(self, fault: Fault) -> None:
        self._holds[fault.id] = fault
        self._cluster.runtime.stop(fault.name)

    def start(self, fault: Fault) -> None:
        self._holds.pop(fault.id, None)
        if self._held(fault, "kill", "restart", "stop") or self.state(fault.name) != "dead":
            return
        self._cluster.runtime.start(fault.name)
        self._orders.started(fault.name)
        if self._held(fault, "pause"):
            self._cluster.runtime.pause(fault.name)

    def pause(self, fault: Fault) -> None:
        self._holds[fault.id] = fault
        self._cluster.runtime.pause(fault.name)

    def resume(self, fault: Fault) -> None:
        self._holds.pop(fault.id, None)
        if not self._held(fault, "pause"):
            self._cluster.runtime.resume(fault.name)
            self._orders.woken(fault.name)

    def _held(self, fault: Fault, *kinds: str) -> bool:
        return any(one.target == fault.target and one.kind in kinds for one in self._holds.values())

    def state(self, broker: str) -> NodeState:
        return self._cluster.runtime.state()[broker]

    def neighbours(self, broker: str) -> tuple[str, ...]:
        return self._cluster.topology.neighbours(broker)

    def is_severed(self, broker: str, neighbour: str) -> bool:
        shapes = self.shapes(f"{broker}-{neighbour}").values()
        ends = (broker, neighbour)
        is_cut = any(shape.cut for shape in shapes)
        return is_cut or any(self.state(end) != "running" or self.strain(end).isolated for end in ends)

    def answers(self, broker: str) -> bool:
        return self._cluster.answers(broker)

    def status(self, node: str) -> dict[str, Any] | None:
        return self._cluster.statuses([node], 1.0)[node]

    def is_ready(self, broker: str) -> bool:
        """A broker that came back without the shapes of its links is not: it would talk over a link that is cut."""
        self._orders.catch_up()
        return self._orders.is_told(broker) and self._cluster.is_ready(broker)

    def is_measurable(self, broker: str) -> bool:
        """Whether the frames that it sends and gets show how its links are."""
        strain = self._orders.strain(broker)
        is_there = self.state(broker) == "running" and self._orders.is_told(broker)
        return is_there and not strain.isolated and not strain.disk_full

    def shape(self, fault: Fault, wish: Wish) -> None:
        self._orders.ask(fault, wish)

    def unshape(self, fault: Fault) -> None:
        self._orders.drop(fault)

    def shapes(self, link: str) -> dict[tuple[str, str], Shape]:
        return self._orders.shapes(link)

    def load(self, fault: Fault, load: Load) -> None:
        self._orders.ask(fault, load)

    def unload(self, fault: Fault) -> None:
        self._orders.drop(fault)

    def strain(self, broker: str) -> Strain:
        return self._orders.strain(broker)

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
        silent: NoAnswer | None = None
        for driver in self._cluster.drivers:
            try:
                self._cluster.request(driver, op, client=client, **arguments)
            except NoAnswer as error:
                silent = error
            except BrokerlabError:
                continue  # it plays others
            else:
                return
        raise silent or BrokerlabError(f"no driver plays a client `{client}`")
