"""A broker dies and is back as soon as its machine can start it."""

from __future__ import annotations

from controller.faults.base import Fault, FaultKind, Lab


class Restart(FaultKind):
    kind = "restart"
    on = "broker"
    summary = "SIGKILL a broker and start it again at once"
    heals_at_once = True
    is_death = True

    def apply(self, lab: Lab, fault: Fault) -> None:
        lab.kill(fault.name)

    def heal(self, lab: Lab, fault: Fault) -> None:
        lab.start(fault.name)

    def is_healed(self, lab: Lab, fault: Fault) -> bool:
        return lab.is_ready(fault.name)
