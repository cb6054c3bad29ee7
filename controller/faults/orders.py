"""What all faults together ask of each broker, and what it has been told of that; a restarted broker knows nothing."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from typing import Any, Protocol

from msgspec import Struct, field, structs

from controller.errors import NoAnswer
from controller.faults.base import Fault, Load, Wish
from controller.runtimes.base import Nodes
from controller.topology import Link, Topology
from node.shaping import Shape
from node.strain import AHEAD_MS_MAX, Strain

CATCH_UP_WITHIN_S = 0.5
_SHAPED = tuple(name for name in Wish.__struct_fields__ if name != "direction")


class Told(Protocol):
    """The part of a cluster that is told how its brokers are to be."""

    @property
    def runtime(self) -> Nodes: ...
    @property
    def topology(self) -> Topology: ...
    def statuses(self, nodes: list[str], within_s: float = ...) -> dict[str, dict[str, Any] | None]: ...
    def shape(self, broker: str, peer: str, shape: Shape) -> None: ...
    def confine(self, broker: str, strain: Strain) -> Strain:
        """Put it under what the runtime can put it under; returns what it has to be asked to do to itself."""

    def strain(self, broker: str, strain: Strain) -> None: ...


class _Knowledge(Struct):
    """What a broker was told since it started; None: another process may have told it anything."""

    shapes: dict[str, Shape | None] = field(default_factory=dict)
    strain: Strain | None = Strain()


class Orders:
    def __init__(self, cluster: Told) -> None:
        self._cluster = cluster
        self._wishes: dict[str, dict[str, Wish]] = {}
        """Link → fault's id → what it asks for; the last one outweighs the others."""
        self._loads: dict[str, dict[str, Load]] = {}
        self._known: dict[str, _Knowledge] = {}
        self._left: dict[str, Strain] = {}
        """What the runtime left for the broker to do."""
        self._untold: dict[str, None] = {}
        """Those that do not know yet what is asked of them: just started, or out of reach."""
        self._starting: set[str] = set()

    def recall(self, fault: Fault, asked: Wish | Load) -> None:
        """An earlier command asked for this."""
        if isinstance(asked, Load):
            self._loads.setdefault(fault.name, {})[fault.id] = asked
        else:
            self._wishes.setdefault(fault.name, {})[fault.id] = asked
        self.doubt(fault)

    def doubt(self, fault: Fault) -> None:
        """Its brokers may know of it or not; they are told again."""
        if fault.on == "broker":
            self._knowledge(fault.name).strain = None
            self._untold[fault.name] = None
        elif fault.on == "link":
            for broker, peer in self.shapes(fault.name):
                self._knowledge(broker).shapes[peer] = None
                self._untold[broker] = None

    def ask(self, fault: Fault, asked: Wish | Load) -> None:
        if isinstance(asked, Load):
            self._loads.setdefault(fault.name, {})[fault.id] = asked
        else:
            self._wishes.setdefault(fault.name, {})[fault.id] = asked
        self._changed(fault)

    def drop(self, fault: Fault) -> None:
        """It asks for nothing any more; what other faults ask for stays."""
        for asked in (self._loads, self._wishes):
            asked.get(fault.name, {}).pop(fault.id, None)
        self._changed(fault)

    def shapes(self, link: str) -> dict[tuple[str, str], Shape]:
        """How both directions, from one broker to another, should be now."""
        one = self._cluster.topology.link(link)
        forth, back = self._wanted(one, "forth"), self._wanted(one, "back")
        # Cut means that nothing is sent, and that what was sent before is not heard any more.
        return {
            (one.a, one.b): structs.replace(forth, deaf=back.cut),
            (one.b, one.a): structs.replace(back, deaf=forth.cut),
        }

    def _wanted(self, link: Link, direction: str) -> Shape:
        wanted: dict[str, Any] = {}
        for wish in self._wishes.get(link.name, {}).values():
            if wish.direction in ("both", direction):
                wanted |= {name: value for name in _SHAPED if (value := getattr(wish, name)) is not None}
        return structs.replace(link.shape, **wanted)

    def strain(self, broker: str) -> Strain:
        """What all faults together put this broker under."""
        loads = self._loads.get(broker, {}).values()
        wanted: dict[str, Any] = {}
        for load in loads:
            wanted |= {name: value for name, value in structs.asdict(load).items() if value is not None}
        # Of everything else the last word counts, but who jumps twice has jumped the whole way.
        ahead_ms = min(AHEAD_MS_MAX, sum(load.clock_ahead_ms or 0 for load in loads))
        return Strain(**{**wanted, "clock_ahead_ms": ahead_ms})

    def is_told(self, broker: str) -> bool:
        return broker not in self._untold

    def started(self, broker: str) -> None:
        """It has just been started, and is told everything once it answers."""
        self._known[broker] = _Knowledge()
        self._untold[broker] = None
        self._starting.add(broker)
        self._confine(broker)

    def woken(self, broker: str) -> None:
        """It could not be told while it stood still."""
        self._untold[broker] = None
        self._tell([broker])

    def catch_up(self) -> None:
        """Tell those who could not be told before, if they answer now."""
        running = [broker for broker in self._running(self._untold) if not self._is_off(broker)]
        answers = self._cluster.statuses(running, CATCH_UP_WITHIN_S) if running else {}
        there = [broker for broker in running if answers[broker] is not None]
        self._starting.difference_update(there)
        self._tell(there)

    def _changed(self, fault: Fault) -> None:
        if fault.on == "link":
            link = self._cluster.topology.link(fault.name)
            brokers = [link.a, link.b]
        else:
            brokers = [fault.name]
            if self._cluster.runtime.state()[fault.name] != "dead":
                self._confine(fault.name)
        self._untold |= dict.fromkeys(brokers)
        self._tell(brokers)

    def _confine(self, broker: str) -> None:
        self._left[broker] = self._cluster.confine(broker, self.strain(broker))

    def _is_off(self, broker: str) -> bool:
        """The runtime has taken it off the network, where it cannot be told anything."""
        if broker not in self._left and self._loads.get(broker):
            self._confine(broker)
        return self.strain(broker).isolated > self._left.get(broker, Strain()).isolated

    def _running(self, brokers: Iterable[str]) -> list[str]:
        states = self._cluster.runtime.state() if brokers else {}
        return [broker for broker in brokers if states[broker] == "running"]

    def _tell(self, brokers: Iterable[str]) -> None:
        for broker in self._running(brokers):
            if broker not in self._starting and not self._is_off(broker):
                with contextlib.suppress(NoAnswer):
                    self._tell_all(broker)
                    self._untold.pop(broker, None)

    def _tell_all(self, broker: str) -> None:
        known = self._knowledge(broker)
        for link in self._cluster.topology.links_of(broker):
            peer = link.b if broker == link.a else link.a
            wanted = self.shapes(link.name)[broker, peer]
            if known.shapes.get(peer, link.shape) != wanted:
                self._cluster.shape(broker, peer, wanted)
                known.shapes[peer] = wanted
        left = self._left.get(broker, Strain())
        if known.strain != left:
            self._cluster.strain(broker, left)
            known.strain = left

    def _knowledge(self, broker: str) -> _Knowledge:
        return self._known.setdefault(broker, _Knowledge())
