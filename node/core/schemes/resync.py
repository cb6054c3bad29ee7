"""Who has to be brought up to date, and when is what we say complete?

A broker's word to one neighbour is complete once all its other neighbours have brought it up to date. On a tree that
is well-founded: leaves can speak at once, and the news travels inwards and out again, after any number of restarts.
"""

from __future__ import annotations

from node.core.messages import Port


class Resync:
    def __init__(self, ports: tuple[Port, ...]) -> None:
        self._ports = ports
        self._incarnation: dict[Port, int] = {}
        self._heard: set[Port] = set()
        self._told: set[Port] = set()

    def is_new(self, port: Port, incarnation: int) -> bool:
        """Note that this incarnation is up; true if it has to be brought up to date."""
        if self._incarnation.get(port) == incarnation:
            return False
        self._incarnation[port] = incarnation
        self._heard.discard(port)
        self._told.discard(port)
        return True

    def heard_all(self, port: Port) -> None:
        self._heard.add(port)

    def may_complete(self, port: Port) -> bool:
        return all(other in self._heard for other in self._ports if other != port)

    def told_all(self, port: Port) -> None:
        self._told.add(port)

    def due(self) -> list[Port]:
        """Neighbours that are up and to whom our word has become complete."""
        return [p for p in self._ports if p in self._incarnation and p not in self._told and self.may_complete(p)]

    def waiting_for(self) -> list[str]:
        return [p.name for p in self._ports if p not in self._heard]
