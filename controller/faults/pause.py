"""A broker stands still and does not know it: connections stay open, nobody answers."""

from __future__ import annotations

from controller.faults.base import Fault, FaultKind, Lab


class Pause(FaultKind):
    kind = "pause"
    on = "broker"
    summary = "freeze a broker; healed by letting it go on"
    spares = ("dead", "paused")

    def apply(self, lab: Lab, fault: Fault) -> None:
        lab.pause(fault.name)

    def heal(self, lab: Lab, fault: Fault) -> None:
        lab.resume(fault.name)
