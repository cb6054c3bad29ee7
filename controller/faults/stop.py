"""A broker ends in order: it takes nothing more, hands over what it has, and goes. Nobody may notice a loss."""

from __future__ import annotations

import contextlib

from controller.errors import NoAnswer
from controller.faults.base import Fault, FaultKind, Lab, Unseen
from controller.faults.brokers import unready

HANDS_OVER_WITHIN_S = 10.0


class Stop(FaultKind):
    kind = "stop"
    on = ("broker",)
    summary = "let a broker end in order; healed by starting it again"
    ends_broker = True

    def apply(self, lab: Lab, fault: Fault) -> None:
        lab.notes(fault)["since_s"] = lab.now_s()
        self._go_on(lab, fault)

    def heal(self, lab: Lab, fault: Fault) -> None:
        """Begun is begun: who takes nothing more cannot stay, and still has to hand over what it has."""
        lab.notes(fault)["is_over"] = True

    def lacks(self, lab: Lab, fault: Fault) -> str | None:
        if self._go_on(lab, fault):
            return None
        if lab.now_s() - lab.notes(fault)["since_s"] < HANDS_OVER_WITHIN_S:
            raise Unseen(f"{fault.name} is handing over")
        return f"{fault.name} had not handed over everything after {HANDS_OVER_WITHIN_S:g} s"

    def remains(self, lab: Lab, fault: Fault) -> str | None:
        notes = lab.notes(fault)
        if not notes.get("is_back"):
            if not self._go_on(lab, fault):
                return f"{fault.name} has not handed over everything"
            lab.start(fault)
            notes["is_back"] = True
        return unready(lab, fault.name)

    def _go_on(self, lab: Lab, fault: Fault) -> bool:
        """Whether it has gone. It does not go before it has handed over everything: nothing excuses that loss."""
        state = lab.state(fault.name)
        if state == "dead":
            # Of another fault, perhaps: then it is this one that keeps it dead from now on.
            lab.stop(fault)
            return True
        status = lab.status(fault.name) if state == "running" else None
        if status is None:
            return False
        if status["left"]:
            lab.stop(fault)
            return True
        # Asked again and again: its successor after a crash does not know of it.
        with contextlib.suppress(NoAnswer):
            lab.leave(fault.name)
        return False
