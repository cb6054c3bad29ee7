"""Who has to be brought up to date, and when is what we say complete?

A broker's word to one neighbour is complete once all its other neighbours have brought it up to date. On a tree that
is well-founded: leaves can speak at once, and the news travels inwards and out again, after any number of restarts.
"""

from __future__ import annotations

from collections.abc import Iterable

from node.core.messages import Port

# The two may overtake each other on a session.
PARTS = ("subs", "advs")


class Resync:
    def __init__(self, ports: tuple[Port, ...]) -> None:
        self._ports = ports
        self._incarnation: dict[Port, int] = {}
        self._heard: dict[Port, set[str]] = {}
        self._ever_heard: set[Port] = set()
        self._told: set[Port] = set()

    def is_new(self, port: Port, incarnation: int) -> bool:
        """Note that this incarnation is up; true if it has to be brought up to date."""
        if self._incarnation.get(port) == incarnation:
            return False
        self._incarnation[port] = incarnation
        self._heard.pop(port, None)
        self._told.discard(port)
        return True

    def heard_all(self, port: Port, parts: Iterable[str]) -> None:
        self._heard.setdefault(port, set()).update(parts)
        if self._is_heard(port):
            self._ever_heard.add(port)

    def _is_heard(self, port: Port) -> bool:
        return len(self._heard.get(port, ())) == len(PARTS)

    def may_complete(self, port: Port) -> bool:
        return all(self._is_heard(other) for other in self._ports if other != port)

    def told_all(self, port: Port) -> None:
        self._told.add(port)

    def is_told(self, port: Port) -> bool:
        return port in self._told

    def due(self) -> list[Port]:
        """Neighbours that are up and to whom our word has become complete."""
        return [p for p in self._ports if p in self._incarnation and p not in self._told and self.may_complete(p)]

    def unknown(self) -> list[Port]:
        return [p for p in self._ports if p not in self._ever_heard]

    def waiting_for(self) -> list[str]:
        return [p.name for p in self._ports if not self._is_heard(p)]
