"""How frames between two brokers are treated: held back, or dropped. Pure: time is passed in.

Each peer has a line of frames under way, ordered by when they are due. A further treatment (jitter, rate, loss,
duplicates) is a decision in `_Line.due_times`: none for a lost frame, two for a doubled one.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable

from msgspec import Struct, structs

MS = 1_000_000
FRAMES_HELD_MAX = 20_000


class Shape(Struct, frozen=True):
    delay_ms: float = 0
    cut: bool = False


class _Line:
    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.held = 0
        self._last_due = 0

    def due_times(self, now: int) -> list[int]:
        if self.shape.cut or self.held >= FRAMES_HELD_MAX:
            return []
        # A frame sent after the delay was lowered does not overtake the ones before it.
        self._last_due = max(self._last_due, now + round(self.shape.delay_ms * MS))
        return [self._last_due]


class Shaping:
    def __init__(self, shapes: dict[str, Shape]) -> None:
        self._lines = {peer: _Line(shape) for peer, shape in shapes.items()}
        self._under_way: list[tuple[int, int, str, bytes]] = []
        self._offered = 0

    def shape(self, peer: str) -> Shape:
        return self._lines[peer].shape

    def change(self, peer: str, delay_ms: float | None = None, cut: bool | None = None) -> Shape:
        line = self._lines[peer]
        changes = {name: value for name, value in (("delay_ms", delay_ms), ("cut", cut)) if value is not None}
        line.shape = structs.replace(line.shape, **changes)
        return line.shape

    def admits(self, peer: str) -> bool:
        """Whether a frame that arrives from that peer is taken."""
        return not self._lines[peer].shape.cut

    def offer(self, peer: str, data: bytes, now: int) -> None:
        line = self._lines[peer]
        for due in line.due_times(now):
            self._offered += 1
            line.held += 1
            heapq.heappush(self._under_way, (due, self._offered, peer, data))

    def due(self, now: int) -> Iterable[tuple[str, bytes]]:
        """Frames whose time has come; what is under way when a link is cut is lost with it."""
        while self._under_way and self._under_way[0][0] <= now:
            _, _, peer, data = heapq.heappop(self._under_way)
            line = self._lines[peer]
            line.held -= 1
            if not line.shape.cut:
                yield peer, data

    def deadline(self) -> int | None:
        return self._under_way[0][0] if self._under_way else None
