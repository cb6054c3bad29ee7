"""Faults that lie in how both ends of a link treat its frames; and how such a link is measured."""

from __future__ import annotations

from abc import abstractmethod
from math import ceil
from typing import Any

from msgspec import Struct

from controller.faults.base import Direction, Fault, FaultKind, Lab, Unseen, Wish
from node.shaping import Shape, Share

FRAMES = 20
# So many that a share which lets all of them through is not the share that was asked for, nine times out of ten and
# more; whoever is unlucky is measured again.
FRAMES_MAX = 300
RATE_TAKES_MS = 200
BYTES_MAX = 200_000
# How much longer than it should a frame may take on a machine that does other things too.
TOLERATED_MS = 250.0
ARRIVES_WITHIN_S = 0.3


class OneWay(Struct, frozen=True, forbid_unknown_fields=True):
    direction: Direction = "both"


class SharePerDirection(OneWay, frozen=True, forbid_unknown_fields=True, kw_only=True):
    share: Share


class LinkFault(FaultKind):
    on = ("link",)

    @abstractmethod
    def wish(self, fault: Fault) -> Wish: ...

    def apply(self, lab: Lab, fault: Fault) -> None:
        lab.shape(fault, self.wish(fault))

    def heal(self, lab: Lab, fault: Fault) -> None:
        lab.notes(fault).clear()
        lab.unshape(fault)

    def lacks(self, lab: Lab, fault: Fault) -> str | None:
        return measured(lab, fault)

    def remains(self, lab: Lab, fault: Fault) -> str | None:
        return measured(lab, fault)


def measured(lab: Lab, fault: Fault) -> str | None:
    """How the link differs from what all faults on it together ask for; both ends have to be there to be asked."""
    shapes = lab.shapes(fault.name)
    for broker in {end for ends in shapes for end in ends}:
        if lab.state(broker) != "running" or lab.strain(broker).isolated or lab.strain(broker).disk_full:
            lab.notes(fault).clear()
            raise Unseen(f"{broker} cannot be asked now")
    notes = lab.notes(fault)
    if notes.get("shapes") != shapes:
        _send(lab, fault, shapes)
        raise Unseen("it is being measured")
    elapsed_s = lab.now_s() - notes["sent_s"]
    told = [_direction(lab, notes, ends, shape, elapsed_s) for ends, shape in shapes.items()]
    wrong = next((one for one in told if one is not None), None)
    if wrong is not None and "being measured" in wrong:
        raise Unseen(wrong)
    if wrong is not None:
        _send(lab, fault, shapes)
    return wrong


def _send(lab: Lab, fault: Fault, shapes: dict[tuple[str, str], Shape]) -> None:
    notes = lab.notes(fault)
    turn = notes.get("turn", 0) + 1
    tokens = {ends: f"{fault.id}.{turn}.{ends[0]}" for ends in shapes}
    notes.update(turn=turn, shapes=shapes, sent_s=lab.now_s(), tokens=tokens)
    for (sender, receiver), shape in shapes.items():
        count, size = batch(shape)
        lab.probe(sender, receiver, tokens[sender, receiver], count, size)


def _direction(lab: Lab, notes: dict[str, Any], ends: tuple[str, str], shape: Shape, elapsed_s: float) -> str | None:
    sender, receiver = ends
    count, size = batch(shape)
    arrived = lab.probed(receiver, notes["tokens"][ends])
    is_over = elapsed_s > ARRIVES_WITHIN_S + longest_ms(shape, count, size) / 1e3
    is_slow = min(lab.strain(sender).cpu_share, lab.strain(receiver).cpu_share) < 1
    wrong = difference(shape, count, size, arrived, is_over, is_slow)
    return None if wrong is None else f"{sender} to {receiver}: {wrong}"


def batch(shape: Shape) -> tuple[int, int]:
    """How many frames show such a shape, and how many bytes each needs more than it has."""
    shares = [share for share in (shape.loss, shape.duplicate, shape.reorder) if 0 < share < 1]
    count = max([FRAMES, *(min(FRAMES_MAX, ceil(9 / share)) for share in shares)])
    size = 0
    if shape.rate_kbps is not None:
        size = min(BYTES_MAX, round(shape.rate_kbps * RATE_TAKES_MS / 8)) // count
    return count, size


def longest_ms(shape: Shape, count: int, size: int) -> float:
    rate_ms = 0.0 if shape.rate_kbps is None else count * (size + 100) * 8 / shape.rate_kbps
    return shape.delay_ms + shape.jitter_ms + rate_ms


def difference(
    shape: Shape, count: int, size: int, arrived: dict[str, Any], is_over: bool, is_slow: bool
) -> str | None:
    got = arrived["got"]
    may_lose = shape.loss > 0
    if shape.cut or shape.flap_down_ms:
        if got:
            return f"{got} of {count} frames crossed it"
        return None if is_over else "being measured"
    if got < count and not is_over:
        return "being measured"
    if got < count and not may_lose:
        return f"only {got} of {count} frames crossed it"
    if may_lose and got == count:
        return f"none of {count} frames was lost"
    if got == 0:
        return None if shape.loss == 1 else f"none of {count} frames crossed it"
    return _timing(shape, count, size, arrived, is_slow) or _mixing(shape, count, arrived)


def _timing(shape: Shape, count: int, size: int, arrived: dict[str, Any], is_slow: bool) -> str | None:
    fastest_ms, middle_ms = arrived["fastest_ms"], arrived["middle_ms"]
    if fastest_ms < 0.95 * shape.delay_ms:
        return f"a frame took {fastest_ms:.0f} ms, not {shape.delay_ms:g}"
    longest = longest_ms(shape, count, size) + TOLERATED_MS
    if middle_ms > longest and not is_slow and shape.rate_kbps is None:
        return f"frames took {middle_ms:.0f} ms, not {shape.delay_ms:g}"
    if shape.jitter_ms and arrived["slowest_ms"] - fastest_ms < 0.1 * shape.jitter_ms:
        return "all frames took the same time"
    if shape.rate_kbps is not None and size:
        should_ms = arrived["got"] * size * 8 / shape.rate_kbps
        if arrived["took_ms"] < 0.6 * should_ms:
            return f"{arrived['got'] * size} bytes took {arrived['took_ms']:.0f} ms, not {should_ms:.0f}"
    return None


def _mixing(shape: Shape, count: int, arrived: dict[str, Any]) -> str | None:
    if shape.duplicate and not arrived["doubled"]:
        return f"none of {count} frames came twice"
    if shape.reorder and not arrived["overtaken"]:
        return f"none of {count} frames was overtaken"
    return None
