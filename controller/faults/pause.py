"""A broker or a client stands still and does not know it: connections stay open, nobody answers."""

from __future__ import annotations

from controller.faults.base import Fault, FaultKind, Lab


class Pause(FaultKind):
    kind = "pause"
    on = ("broker", "client")
    summary = "freeze a broker or a client; healed by letting it go on"

    def apply(self, lab: Lab, fault: Fault) -> None:
        if fault.on == "client":
            lab.send_away(fault, "paused")
        else:
            lab.pause(fault)

    def heal(self, lab: Lab, fault: Fault) -> None:
        if fault.on == "client":
            lab.call_back(fault)
        else:
            lab.resume(fault)

    def lacks(self, lab: Lab, fault: Fault) -> str | None:
        if fault.on == "client":
            return None if lab.is_away(fault.name) else f"{fault.name} is not paused"
        state = lab.state(fault.name)
        if state == "running":
            return f"{fault.name} is running"
        return f"{fault.name} still answers" if lab.answers(fault.name) else None

    def remains(self, lab: Lab, fault: Fault) -> str | None:
        if fault.on == "client":
            return f"{fault.name} is still paused" if lab.is_away(fault.name) else None
        state = lab.state(fault.name)
        if state == "dead" or (state == "running" and lab.strain(fault.name).isolated):
            return None
        return None if lab.answers(fault.name) else f"{fault.name} does not answer"
