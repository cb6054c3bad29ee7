"""When has a session something to do by itself? Ports by the time they are due, in slots.

What is due within a slot is done together at its end: a few wakes a second for any number of sessions, whose
heartbeats fall into step. Woken too early is harmless, so a time that moves away is not taken back.
"""

from __future__ import annotations

import heapq

from node.core.messages import Port

SLOT_NS = 50_000_000


class Wakes:
    def __init__(self) -> None:
        self._slots: list[int] = []
        self._ports: dict[int, list[Port]] = {}
        self._slot_of: dict[Port, int] = {}

    def plan(self, port: Port, due: int, now: int) -> None:
        """At `due` or up to a slot later, but after now: what cannot be done yet is tried again."""
        slot = -(-max(due, now + 1) // SLOT_NS) * SLOT_NS
        planned = self._slot_of.get(port)
        if planned is not None and planned <= slot:
            return
        self._slot_of[port] = slot
        if slot not in self._ports:
            self._ports[slot] = []
            heapq.heappush(self._slots, slot)
        self._ports[slot].append(port)

    def take(self, now: int) -> list[Port]:
        """The ports whose time has come, each once."""
        taken: list[Port] = []
        while self._slots and self._slots[0] <= now:
            slot = heapq.heappop(self._slots)
            for port in self._ports.pop(slot):
                if self._slot_of.get(port) == slot:
                    del self._slot_of[port]
                    taken.append(port)
        return taken

    def deadline(self) -> int | None:
        return self._slots[0] if self._slots else None
