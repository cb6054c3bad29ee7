"""A broker dies without a word; it comes back as a new incarnation that knows nothing."""

from __future__ import annotations

from controller.faults.base import Fault, FaultKind, Lab


class Kill(FaultKind):
    kind = "kill"
    on = "broker"
    summary = "SIGKILL a broker; healed by starting it again"
    is_death = True

    def apply(self, lab: Lab, fault: Fault) -> None:
        lab.kill(fault.name)

    def heal(self, lab: Lab, fault: Fault) -> None:
        lab.start(fault.name)

    def is_healed(self, lab: Lab, fault: Fault) -> bool:
        return lab.is_ready(fault.name)
