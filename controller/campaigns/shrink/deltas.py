"""Zeller's delta debugging: the fewest of some things that still do it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


def fewest(items: Sequence[T], does_it: Callable[[list[T]], bool]) -> list[T]:
    """Of which none can be left out; `does_it` is not asked about all of them, which do."""
    kept = list(items)
    if kept and does_it([]):
        return []
    pieces = 2
    while len(kept) > 1:
        size = -(-len(kept) // pieces)
        for at in range(0, len(kept), size):
            rest = kept[:at] + kept[at + size :]
            if does_it(rest):
                kept, pieces = rest, max(pieces - 1, 2)
                break
        else:
            if pieces >= len(kept):
                break
            pieces = min(len(kept), 2 * pieces)
    return kept
