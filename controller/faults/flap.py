"""A link that comes and goes."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from controller.faults.base import Fault, Hidden, Lab, Unseen, Wish
from controller.faults.links import LinkFault, arrivals, send
from controller.faults.measuring import batch, longest_ms
from node.shaping import Shape

_MS = Annotated[int, Meta(ge=20, le=600_000)] | Annotated[float, Meta(ge=20, le=600_000)]
UP_MS, DOWN_MS = 1_000, 500
PERIODS_LOOKED_AT = 5
LOOKED_AT_S_MIN = 10.0
ARRIVES_WITHIN_MS = 100.0


class FlapArguments(Struct, frozen=True, forbid_unknown_fields=True):
    up_ms: _MS = UP_MS
    down_ms: _MS = DOWN_MS


class Flap(LinkFault):
    kind = "flap"
    summary = "let a link pass for up_ms, cut it for down_ms, and so on"
    Arguments = FlapArguments

    def wish(self, fault: Fault) -> Wish:
        return Wish(flap_up_ms=fault.args.get("up_ms", UP_MS), flap_down_ms=fault.args.get("down_ms", DOWN_MS))

    def lacks(self, lab: Lab, fault: Fault) -> str | None:
        """One look shows it up or down; it has to be seen in both ways."""
        notes = lab.notes(fault)
        shapes = lab.shapes(fault.name)
        if any(shape.cut for shape in shapes.values()):
            raise Hidden("another fault has cut the link")
        if not all(lab.is_measurable(end) for ends in shapes for end in ends):
            notes.clear()
            raise Hidden("an end of it cannot be asked")
        if notes.get("shapes") != shapes:
            notes.update(first_s=lab.now_s(), up=set(), down=set())
        elif (lab.now_s() - notes["sent_s"]) * 1e3 < ARRIVES_WITHIN_MS + max(map(_longest_ms, shapes.values())):
            raise Unseen("it is being measured")
        else:
            for ends in shapes:
                notes["up" if arrivals(lab, notes, ends)["got"] else "down"].add(ends)
        if notes["up"] == notes["down"] == set(shapes):
            return None
        send(lab, fault, shapes)
        looked_at_s = lab.now_s() - notes["first_s"]
        period_s = sum(shape.flap_up_ms + shape.flap_down_ms for shape in shapes.values()) / len(shapes) / 1e3
        if looked_at_s < max(LOOKED_AT_S_MIN, PERIODS_LOOKED_AT * period_s):
            raise Unseen("it was not yet seen to come and go")
        ends, never = next((ends, how) for ends in shapes for how in ("up", "down") if ends not in notes[how])
        return f"{ends[0]} to {ends[1]}: it was never {never} in {looked_at_s:.0f} s"


def _longest_ms(shape: Shape) -> float:
    return longest_ms(shape, *batch(shape))
