"""A broker ends in order: it takes nothing more, hands over what it has, and goes. Nobody may notice a loss."""

from __future__ import annotations

from controller.faults.base import Fault, FaultKind, Lab, Unseen

HANDS_OVER_WITHIN_S = 10.0


class Stop(FaultKind):
    kind = "stop"
    on = ("broker",)
    summary = "let a broker end in order; healed by starting it again"

    def apply(self, lab: Lab, fault: Fault) -> None:
        lab.leave(fault.name)
        lab.notes(fault)["since_s"] = lab.now_s()

    def heal(self, lab: Lab, fault: Fault) -> None:
        if lab.state(fault.name) != "dead":
            lab.stop(fault)
        lab.start(fault)

    def lacks(self, lab: Lab, fault: Fault) -> str | None:
        notes = lab.notes(fault)
        is_late = lab.now_s() - notes["since_s"] > HANDS_OVER_WITHIN_S
        if lab.state(fault.name) != "dead":
            has_left = lab.has_left(fault.name)
            if not has_left and not is_late:
                raise Unseen(f"{fault.name} is handing over")
            notes["was_late"] = not has_left
            lab.stop(fault)
        if notes.get("was_late"):
            return f"{fault.name} had not handed over everything after {HANDS_OVER_WITHIN_S:g} s"
        return None

    def remains(self, lab: Lab, fault: Fault) -> str | None:
        return None if lab.is_ready(fault.name) else f"{fault.name} is not ready"
