"""A broker's name in a box, and how far apart boxes have to be."""

from __future__ import annotations

from collections.abc import Mapping

Point = tuple[float, float]
Places = dict[str, Point]

LETTER_PX = 6.7
PAD_PX = 12.0
HEIGHT_PX = 19.0
GAP_PX = 5.0
ROUNDS_MAX = 400


def width_px(name: str) -> float:
    return len(name) * LETTER_PX + PAD_PX


def overlap(a: str, b: str, places: Mapping[str, Point]) -> tuple[float, float] | None:
    """How far the two would have to part across or down; None if they are apart."""
    (ax, ay), (bx, by) = places[a], places[b]
    across = (width_px(a) + width_px(b)) / 2 + GAP_PX - abs(ax - bx)
    down = HEIGHT_PX + GAP_PX - abs(ay - by)
    return (across, down) if across > 0.01 and down > 0.01 else None


def parted(places: Mapping[str, Point]) -> Places:
    """Those that overlap are pushed apart, the shorter way, until none does."""
    found = dict(places)
    names = list(found)
    for _ in range(ROUNDS_MAX):
        moved = False
        for index, a in enumerate(names):
            for b in names[index + 1 :]:
                if (needed := overlap(a, b, found)) is not None:
                    _push(a, b, needed, found)
                    moved = True
        if not moved:
            return found
    # Too crowded to be mended by pushing: everything further apart.
    return parted({name: (1.2 * x, 1.2 * y) for name, (x, y) in found.items()})


def _push(a: str, b: str, needed: tuple[float, float], places: Places) -> None:
    across, down = needed
    (ax, ay), (bx, by) = places[a], places[b]
    if across < down:
        step = (across / 2 + 0.1) * (1 if bx >= ax else -1)
        places[a], places[b] = (ax - step, ay), (bx + step, by)
    else:
        step = (down / 2 + 0.1) * (1 if by >= ay else -1)
        places[a], places[b] = (ax, ay - step), (bx, by + step)
