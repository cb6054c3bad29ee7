"""A broker dies without a word; it comes back as a new incarnation that knows nothing."""

from __future__ import annotations

from controller.faults.base import Fault, FaultKind, Lab
from controller.faults.brokers import unready


class Kill(FaultKind):
    kind = "kill"
    on = ("broker",)
    summary = "SIGKILL a broker; healed by starting it again"
    is_death = True
    ends_broker = True
    spares = ()

    def apply(self, lab: Lab, fault: Fault) -> None:
        lab.kill(fault)

    def heal(self, lab: Lab, fault: Fault) -> None:
        lab.start(fault)

    def lacks(self, lab: Lab, fault: Fault) -> str | None:
        state = lab.state(fault.name)
        return None if state == "dead" else f"{fault.name} is {state}"

    def remains(self, lab: Lab, fault: Fault) -> str | None:
        return unready(lab, fault.name)
