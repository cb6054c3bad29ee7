"""How a link is measured: how many frames are sent over it, and what their arrival says of its shape. Pure."""

from __future__ import annotations

from math import ceil
from typing import Any

from controller.faults.base import Unseen
from node.shaping import OVERTAKEN_MS, Shape

FRAMES = 20
# So many that a share which lets all of them through is not the share that was asked for, but for one time in ten
# thousand. Of a smaller share than that of the largest batch nothing can be told.
FRAMES_PER_HIT = 9
FRAMES_MAX = 900
HEADER_BYTES = 100
RATE_TAKES_MS = 200
BYTES_MAX = 200_000
# So much of a slow link's time at most.
BATCH_TAKES_MS_MAX = 1_000
# How much longer than it should a frame may take on a machine that does other things too.
TOLERATED_MS = 250.0
ARRIVES_WITHIN_MS = 300.0
# A link with a rate works off what was sent before.
BACKLOG_MS = 5_000.0


def batch(shape: Shape) -> tuple[int, int]:
    """How many frames show such a shape, and how many bytes each needs more than it has."""
    shares = [share for share in (shape.loss, shape.duplicate, shape.reorder) if 0 < share < 1]
    count = max([FRAMES, *(min(FRAMES_MAX, ceil(FRAMES_PER_HIT / share)) for share in shares)])
    if shape.rate_kbps is None:
        return count, 0
    count = max(2, min(count, int(BATCH_TAKES_MS_MAX * shape.rate_kbps / (8 * HEADER_BYTES))))
    return count, min(BYTES_MAX, round(shape.rate_kbps * RATE_TAKES_MS / 8)) // count


def longest_ms(shape: Shape, count: int, size: int) -> float:
    rate_ms = 0.0 if shape.rate_kbps is None else count * (size + HEADER_BYTES) * 8 / shape.rate_kbps
    overtaken_ms = OVERTAKEN_MS if shape.reorder else 0.0
    return shape.delay_ms + shape.jitter_ms + rate_ms + overtaken_ms


def waits_ms(shape: Shape) -> float:
    """After so long whatever has not arrived will not."""
    backlog_ms = BACKLOG_MS if shape.rate_kbps is not None else 0.0
    return ARRIVES_WITHIN_MS + longest_ms(shape, *batch(shape)) + backlog_ms


def difference(shape: Shape, arrived: dict[str, Any], waited_ms: float) -> str | None:
    """What shows that a link is not of that shape; None if nothing does. Raises Unseen if nothing can be told yet."""
    count, size = batch(shape)
    got = arrived["got"]
    if shape.cut and got:
        return f"{got} of {count} frames crossed it"
    if got < count and waited_ms <= waits_ms(shape):
        raise Unseen("it is being measured")
    if shape.cut:
        return None
    if shape.flap_down_ms and got < count:
        return None  # it was down for some of the time, as it should; nobody knows what else it does
    if got < count and not shape.loss:
        return f"only {got} of {count} frames crossed it"
    if shape.loss and got == count:
        return _none(shape.loss, count, "was lost")
    if got == 0:
        return None if shape.loss == 1 else f"none of {count} frames crossed it"
    return _timing(shape, size, arrived) or _mixing(shape, count, arrived)


def is_slow(shape: Shape, arrived: dict[str, Any]) -> str | None:
    """What shows that something takes longer than the shape says: another fault's remains, or a busy machine."""
    if not arrived["got"] or shape.rate_kbps is not None:
        return None
    middle_ms = arrived["middle_ms"]
    is_late = middle_ms > longest_ms(shape, *batch(shape)) + TOLERATED_MS
    return f"frames took {middle_ms:.0f} ms, not {shape.delay_ms:g}" if is_late else None


def _timing(shape: Shape, size: int, arrived: dict[str, Any]) -> str | None:
    fastest_ms = arrived["fastest_ms"]
    if fastest_ms < 0.95 * shape.delay_ms:
        return f"a frame took {fastest_ms:.0f} ms, not {shape.delay_ms:g}"
    if shape.jitter_ms and arrived["slowest_ms"] - fastest_ms < 0.1 * shape.jitter_ms:
        return "all frames took the same time"
    if shape.rate_kbps is not None and size:
        should_ms = (arrived["got"] - 1) * size * 8 / shape.rate_kbps
        if arrived["took_ms"] < 0.6 * should_ms:
            return f"{arrived['got'] * size} bytes took {arrived['took_ms']:.0f} ms, not {should_ms:.0f}"
    return None


def _mixing(shape: Shape, count: int, arrived: dict[str, Any]) -> str | None:
    if shape.duplicate and not arrived["doubled"]:
        return _none(shape.duplicate, count, "came twice")
    # Where all of them wait, none is overtaken.
    if 0 < shape.reorder < 1 and not arrived["overtaken"]:
        return _none(shape.reorder, count, "was overtaken")
    return None


def _none(share: float, count: int, what: str) -> str:
    if share * count < FRAMES_PER_HIT and share < 1:
        raise Unseen(f"in {count} frames a share of {share:g} need not show")
    return f"none of {count} frames {what}"
