"""Schemes that tell of interest only where a producer is: advertisements flood, and say where that may be."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable

from msgspec import Struct

from node.core.messages import Advertise, Port, Unadvertise
from node.core.schemes.base import After, Effect, Forward, Site
from node.core.schemes.table import TableScheme


class DirectedScheme(TableScheme):
    """Advertisements flood, and say where the producers are."""

    needs = frozenset({"tree", "advertisements"})

    def __init__(self, site: Site, parameters: Struct) -> None:
        super().__init__(site, parameters)
        self._advs: dict[str, tuple[Port, Advertise]] = {}

    def wants(self, neighbour: Port) -> bool:
        """Whether a producer is behind this neighbour."""
        return any(hop == neighbour for hop, _ in self._advs.values())

    @abstractmethod
    def offer(self, port: Port) -> Iterable[Effect]:
        """A producer has appeared behind that neighbour: tell what it does not know yet, wait for what it does."""

    @abstractmethod
    def withdraw(self, port: Port) -> Iterable[Effect]:
        """No producer is left behind that neighbour."""

    def advertise(self, port: Port, advertisement: Advertise) -> Iterable[Effect]:
        is_new = self._advs.get(advertisement.adv) != (port, advertisement)
        self._advs[advertisement.adv] = (port, advertisement)
        for neighbour in self.neighbours:
            if neighbour != port:
                yield Forward(neighbour, advertisement) if is_new else After(neighbour, (advertisement.adv,))
        if port in self.neighbours:
            yield from self.offer(port)

    def unadvertise(self, port: Port, adv: str) -> Iterable[Effect]:
        known = self._advs.get(adv)
        if known is None or known[0] != port:
            return
        del self._advs[adv]
        for neighbour in self.neighbours:
            if neighbour != port:
                yield Forward(neighbour, Unadvertise(adv))
        if port in self.neighbours and not self.wants(port):
            yield from self.withdraw(port)

    def advertised_by(self, port: Port) -> list[str]:
        return [adv for adv, (hop, _) in self._advs.items() if hop == port]

    def advertised_to(self, port: Port) -> tuple[Advertise, ...]:
        return tuple(advertisement for hop, advertisement in self._advs.values() if hop != port)
