"""A broker dies and is back as soon as its machine can start it."""

from __future__ import annotations

from controller.faults.base import Fault, FaultKind, Lab
from controller.faults.brokers import unready


class Restart(FaultKind):
    kind = "restart"
    on = ("broker",)
    summary = "SIGKILL a broker and start it again at once"
    heals_at_once = True
    is_death = True
    ends_broker = True

    def apply(self, lab: Lab, fault: Fault) -> None:
        status = lab.status(fault.name)
        lab.notes(fault)["inc"] = 0 if status is None else status["inc"]
        lab.kill(fault)

    def heal(self, lab: Lab, fault: Fault) -> None:
        lab.start(fault)

    def lacks(self, lab: Lab, fault: Fault) -> str | None:
        state = lab.state(fault.name)
        return None if state == "dead" else f"{fault.name} is {state}"

    def remains(self, lab: Lab, fault: Fault) -> str | None:
        if (lacking := unready(lab, fault.name)) is not None:
            return lacking
        status = lab.status(fault.name)
        if status is None or status["inc"] <= lab.notes(fault).get("inc", 0):
            return f"{fault.name} is no new incarnation"
        return None
