"""How frames between two brokers are treated: held back, slowed down, doubled, mixed up or dropped.

Pure: time and chance are passed in. A `Line` decides about the frames to one peer: when each is due, or never.
`Shaping` keeps a broker's frames under way, ordered by when they are due; the simulator has an order of events of its
own and asks the lines only.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from random import Random
from typing import Annotated

from msgspec import Meta, Struct

MS = 1_000_000
FRAMES_HELD_MAX = 20_000
# A frame that others are to overtake waits so long: longer than they take to follow it on a busy link.
OVERTAKEN_MS = 20.0
_NS_BITS_PER_KBPS = 1_000_000

DELAY_MS_MAX = 3_600_000
Millis = Annotated[int, Meta(ge=0, le=DELAY_MS_MAX)] | Annotated[float, Meta(ge=0, le=DELAY_MS_MAX)]
Share = Annotated[int, Meta(ge=0, le=1)] | Annotated[float, Meta(ge=0, le=1)]
Kbps = Annotated[int, Meta(gt=0)] | Annotated[float, Meta(gt=0)]


class Shape(Struct, frozen=True, forbid_unknown_fields=True):
    """One direction of a link, as its sender treats it; a frame is lost as a whole, and the session sends it again."""

    delay_ms: Millis = 0
    cut: bool = False
    """Nothing is sent."""
    deaf: bool = False
    """Nothing that comes from there is taken."""
    jitter_ms: Millis = 0
    """A frame takes up to so much longer, drawn anew for each; none overtakes another."""
    loss: Share = 0
    """The share of frames that are dropped."""
    duplicate: Share = 0
    """The share of frames that are sent twice."""
    reorder: Share = 0
    """The share of frames that wait until later ones have overtaken them."""
    rate_kbps: Kbps | None = None
    """Thousands of bits per second: one frame after the other; None is as fast as can be."""
    flap_up_ms: Millis = 0
    flap_down_ms: Millis = 0
    """Passes for the one time, drops everything for the other, and so on."""


class Line:
    """The way to one peer."""

    def __init__(self, shape: Shape, chance: Random) -> None:
        self.shape = shape
        self.held = 0
        """Frames under way; whoever carries them counts."""
        self._chance = chance
        self._free_at = 0
        self._last_due = 0
        self._flaps_since: int | None = None

    def due(self, size: int, now: int) -> tuple[int, ...]:
        """When a frame of so many bytes that is sent now is at the other end: never, once or twice."""
        shape = self.shape
        if self.is_cut(now) or self.held >= FRAMES_HELD_MAX:
            return ()
        if shape.rate_kbps is not None:
            # A frame that will be lost takes its time on the line too.
            self._free_at = max(self._free_at, now) + round(size * 8 * _NS_BITS_PER_KBPS / shape.rate_kbps)
            now = self._free_at
        if shape.loss and self._chance.random() < shape.loss:
            return ()
        delay_ms = shape.delay_ms
        if shape.jitter_ms:
            delay_ms += shape.jitter_ms * self._chance.random()
        if shape.reorder and self._chance.random() < shape.reorder:
            due = max(self._last_due, now + round(delay_ms * MS)) + round(OVERTAKEN_MS * MS)
        else:
            # A frame sent after the delay was lowered does not overtake the ones before it.
            due = self._last_due = max(self._last_due, now + round(delay_ms * MS))
        if shape.duplicate and self._chance.random() < shape.duplicate:
            return (due, due)
        return (due,)

    def is_cut(self, now: int) -> bool:
        shape = self.shape
        if shape.cut or not shape.flap_down_ms:
            return shape.cut
        if self._flaps_since is None:
            self._flaps_since = now
        period_ns = round((shape.flap_up_ms + shape.flap_down_ms) * MS)
        return (now - self._flaps_since) % period_ns >= shape.flap_up_ms * MS

    def change(self, shape: Shape) -> None:
        if not shape.flap_down_ms:
            self._flaps_since = None
        self.shape = shape


class Shaping:
    def __init__(self, shapes: dict[str, Shape], chance: Random) -> None:
        self._lines = {peer: Line(shape, chance) for peer, shape in shapes.items()}
        self._under_way: list[tuple[int, int, str, list[bytes]]] = []
        self._offered = 0

    @property
    def peers(self) -> list[str]:
        return list(self._lines)

    def knows(self, peer: str) -> bool:
        return peer in self._lines

    def shape(self, peer: str) -> Shape:
        return self._lines[peer].shape

    def change(self, peer: str, shape: Shape) -> None:
        self._lines[peer].change(shape)

    def admits(self, peer: str) -> bool:
        """Whether a frame that arrives from that peer is taken."""
        return not self._lines[peer].shape.deaf

    def offer(self, peer: str, parts: list[bytes], now: int) -> None:
        line = self._lines[peer]
        for due in line.due(sum(map(len, parts)), now):
            self._offered += 1
            line.held += 1
            heapq.heappush(self._under_way, (due, self._offered, peer, parts))

    def due(self, now: int) -> Iterable[tuple[str, list[bytes]]]:
        """Frames whose time has come; what is under way when a link is cut is lost with it."""
        while self._under_way and self._under_way[0][0] <= now:
            _, _, peer, parts = heapq.heappop(self._under_way)
            line = self._lines[peer]
            line.held -= 1
            if not line.is_cut(now):
                yield peer, parts

    def deadline(self) -> int | None:
        return self._under_way[0][0] if self._under_way else None
