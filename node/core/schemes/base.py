"""What a routing scheme is: a pure machine, changes in, effects out.

Time enters through timers, chance through the generator of `Site`, durability through `Persist` and `restore`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, ClassVar, Literal, Protocol

from msgspec import Struct

from node.core.messages import COMMON_BODIES, Body, Port, Publication, broker_port
from node.core.overlay import Edge, routes

Promise = Literal["perfect", "self-healing", "lossless"]


class Chance(Protocol):
    """The part of `random.Random` that a scheme may use."""

    def random(self) -> float: ...
    def randrange(self, stop: int, /) -> int: ...


class Neighbour(Struct, frozen=True, order=True):
    name: str
    weight: float = 1
    group: str | None = None
    in_tree: bool = True


class Site(Struct, frozen=True, dict=True):
    """Where a scheme finds itself: its broker, the neighbours, the role and group given by the topology."""

    broker: str
    neighbours: tuple[Neighbour, ...]
    chance: Chance
    role: str = "inner"
    group: str | None = None
    brokers: tuple[str, ...] = ()
    tree: frozenset[Edge] = frozenset()
    """The links of the overlay's spanning tree."""

    @cached_property
    def routes(self) -> dict[str, str]:
        """Broker → the neighbour on the spanning tree that leads to it."""
        return routes(self.broker, self.tree)

    @property
    def tree_ports(self) -> tuple[Port, ...]:
        """The neighbours on the spanning tree, which is the same seen from everywhere."""
        return tuple(broker_port(n.name) for n in sorted(self.neighbours) if n.in_tree)


class PortUp(Struct, frozen=True):
    """The port is there; with a new `incarnation` it knows nothing of what was told to it before."""

    port: Port
    incarnation: int


class PortDown(Struct, frozen=True):
    """The port has fallen silent; it may come back as it was."""

    port: Port


class Heard(Struct, frozen=True):
    port: Port
    body: Body


class TimerFired(Struct, frozen=True):
    name: str


class Delivered(Struct, frozen=True):
    """A publication was handed to a local client under these subscriptions."""

    port: Port
    publication: Publication
    subs: tuple[str, ...]


Change = PortUp | PortDown | Heard | TimerFired | Delivered


class Forward(Struct, frozen=True):
    """Send this to that port. A header goes with a publication and may change at every hop.

    `awaited`: what caused this control message is settled only after it.
    """

    port: Port
    message: Body | Publication
    header: Any = None
    reliable: bool = True
    awaited: bool = True


class SetTimer(Struct, frozen=True):
    name: str
    after_ns: int


class Persist(Struct, frozen=True):
    """On disk before anything that follows it is sent."""

    key: str
    value: bytes


class After(Struct, frozen=True):
    """Nothing was sent to that port because it has one of these ids, or is getting it: settle only once it has.

    Without this a filter would be confirmed on the strength of a wider one that is still under way.
    """

    port: Port
    ids: tuple[str, ...]


Effect = Forward | SetTimer | Persist | After


class NoParameters(Struct, frozen=True, forbid_unknown_fields=True):
    pass


class Scheme(ABC):
    """One per broker. `apply` takes control changes, `route` publications; both only say what should happen."""

    name: ClassVar[str]
    summary: ClassVar[str]
    promise: ClassVar[Promise]
    declares: ClassVar[frozenset[str]] = frozenset()
    needs: ClassVar[frozenset[str]] = frozenset()
    Parameters: ClassVar[type[Struct]] = NoParameters
    Header: ClassVar[Any] = None
    controls: ClassVar[tuple[type[Body], ...]] = COMMON_BODIES

    def __init__(self, site: Site, parameters: Struct) -> None:
        self.site = site
        self.parameters = parameters

    @abstractmethod
    def apply(self, change: Change) -> Iterable[Effect]: ...

    @abstractmethod
    def route(self, port: Port, publication: Publication, header: Any) -> list[Forward]: ...

    @abstractmethod
    def table(self) -> list[dict[str, Any]]:
        """The routing table, an entry each, for logs, audits and people."""

    def size(self) -> int:
        return len(self.table())

    def waiting_for(self) -> list[str]:
        """Neighbours that have not brought this broker up to date yet."""
        return []

    def unknown(self) -> list[Port]:
        """Neighbours that never told this broker what they want: `route` is asked again about them once they have."""
        return []

    def check(self) -> None:
        """Raise InvariantViolation with the story if something that must always hold does not."""
        return

    def restore(self, items: Mapping[str, bytes]) -> None:
        """What `Persist` kept, given back after a restart."""
        return
