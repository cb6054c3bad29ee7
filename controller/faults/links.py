"""Faults that lie in how both ends of a link treat its frames; they are measured by frames sent over it."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from msgspec import Struct

from controller.faults import measuring
from controller.faults.base import Direction, Fault, FaultKind, Hidden, Lab, Unseen, Wish
from node.shaping import Shape, Share

Ends = tuple[str, str]
"""Sender and receiver."""


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
        shapes = lab.shapes(fault.name)
        for broker in dict.fromkeys(end for ends in shapes for end in ends):
            if not lab.is_measurable(broker):
                lab.notes(fault).clear()
                raise Hidden(f"{broker} cannot be asked")
        if self.wish(fault).cut is None:
            shapes = {ends: shape for ends, shape in shapes.items() if not shape.cut}
        if not shapes:
            raise Hidden("another fault has cut the link")
        told = measured(lab, fault, shapes)
        return next((wrong for ends, wrong in told.items() if wrong is not None), None)

    def remains(self, lab: Lab, fault: Fault) -> str | None:
        """Over a link one of whose ends is dead, paused or isolated nothing comes, whatever it is like."""
        shapes = lab.shapes(fault.name)
        ends = dict.fromkeys(end for both in shapes for end in both)
        if any(lab.state(end) != "running" or lab.strain(end).isolated or lab.strain(end).disk_full for end in ends):
            lab.notes(fault).clear()
            return None
        if not all(lab.is_measurable(end) for end in ends):
            raise Unseen("an end of it is not back yet")
        told = measured(lab, fault, shapes, is_healed=True)
        return next((wrong for wrong in told.values() if wrong is not None), None)


def measured(lab: Lab, fault: Fault, shapes: dict[Ends, Shape], is_healed: bool = False) -> dict[Ends, str | None]:
    """How each direction differs from what all faults on the link together ask for; measured anew if it does."""
    notes = lab.notes(fault)
    if notes.get("shapes") != shapes:
        send(lab, fault, shapes)
        raise Unseen("it is being measured")
    found = {ends: _direction(lab, notes, ends, shape, is_healed) for ends, shape in shapes.items()}
    if any(found.values()):
        send(lab, fault, shapes)
    return found


def send(lab: Lab, fault: Fault, shapes: dict[Ends, Shape]) -> None:
    notes = lab.notes(fault)
    turn = notes.get("turn", 0) + 1
    tokens = {ends: f"{fault.id}.{turn}.{ends[0]}" for ends in shapes}
    notes.update(turn=turn, shapes=shapes, sent_s=lab.now_s(), tokens=tokens)
    for (sender, receiver), shape in shapes.items():
        lab.probe(sender, receiver, tokens[sender, receiver], *measuring.batch(shape))


def arrivals(lab: Lab, notes: dict[str, Any], ends: Ends) -> dict[str, Any]:
    return lab.probed(ends[1], notes["tokens"][ends])


def _direction(lab: Lab, notes: dict[str, Any], ends: Ends, shape: Shape, is_healed: bool) -> str | None:
    waited_ms = (lab.now_s() - notes["sent_s"]) * 1e3
    arrived = arrivals(lab, notes, ends)
    wrong = measuring.difference(shape, arrived, waited_ms)
    is_throttled = min(lab.strain(end).cpu_share for end in ends) < 1
    if wrong is None and is_healed and not is_throttled:
        wrong = measuring.is_slow(shape, arrived)
    return None if wrong is None else f"{ends[0]} to {ends[1]}: {wrong}"
