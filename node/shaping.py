"""How frames between two brokers are treated: held back, slowed down or dropped. Pure: time and chance are passed in.

A `Line` decides about the frames to one peer: when each is due, or never. `Shaping` keeps a broker's frames under way,
ordered by when they are due; the simulator has an order of events of its own and asks the lines only.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from random import Random

from msgspec import Struct, structs

MS = 1_000_000
FRAMES_HELD_MAX = 20_000
_NS_BITS_PER_KBPS = 1_000_000


class Shape(Struct, frozen=True):
    """A delayed link loses nothing by itself; a frame is lost as a whole, and the session sends it again."""

    delay_ms: float = 0
    cut: bool = False
    jitter_ms: float = 0
    """A frame takes up to so much longer, drawn anew for each; none overtakes another."""
    loss: float = 0
    """The share of frames that are dropped."""
    rate_kbps: float | None = None
    """Thousands of bits per second: one frame after the other; None is as fast as can be."""


class Line:
    """The way to one peer."""

    def __init__(self, shape: Shape, chance: Random) -> None:
        self.shape = shape
        self.held = 0
        """Frames under way; whoever carries them counts."""
        self._chance = chance
        self._free_at = 0
        self._last_due = 0

    def due(self, size: int, now: int) -> int | None:
        """When a frame of so many bytes that is sent now is at the other end; None if it is lost."""
        shape = self.shape
        if shape.cut or self.held >= FRAMES_HELD_MAX:
            return None
        if shape.rate_kbps is not None:
            # A frame that will be lost takes its time on the line too.
            self._free_at = max(self._free_at, now) + round(size * 8 * _NS_BITS_PER_KBPS / shape.rate_kbps)
            now = self._free_at
        if shape.loss and self._chance.random() < shape.loss:
            return None
        delay_ms = shape.delay_ms
        if shape.jitter_ms:
            delay_ms += shape.jitter_ms * self._chance.random()
        # A frame sent after the delay was lowered does not overtake the ones before it.
        self._last_due = max(self._last_due, now + round(delay_ms * MS))
        return self._last_due

    def change(self, delay_ms: float | None = None, cut: bool | None = None) -> Shape:
        changes = {name: value for name, value in (("delay_ms", delay_ms), ("cut", cut)) if value is not None}
        self.shape = structs.replace(self.shape, **changes)
        return self.shape


class Shaping:
    def __init__(self, shapes: dict[str, Shape], chance: Random) -> None:
        self._lines = {peer: Line(shape, chance) for peer, shape in shapes.items()}
        self._under_way: list[tuple[int, int, str, bytes]] = []
        self._offered = 0

    def shape(self, peer: str) -> Shape:
        return self._lines[peer].shape

    def change(self, peer: str, delay_ms: float | None = None, cut: bool | None = None) -> Shape:
        return self._lines[peer].change(delay_ms, cut)

    def admits(self, peer: str) -> bool:
        """Whether a frame that arrives from that peer is taken."""
        return not self._lines[peer].shape.cut

    def offer(self, peer: str, data: bytes, now: int) -> None:
        line = self._lines[peer]
        due = line.due(len(data), now)
        if due is not None:
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
