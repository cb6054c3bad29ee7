"""A client dies with what is under way to it, and comes back to its subscriptions."""

from __future__ import annotations

from controller.faults.base import Fault, FaultKind, Lab


class ClientCrash(FaultKind):
    kind = "client-crash"
    on = ("client",)
    summary = "kill a client; healed by letting it reconnect, with its session and subscriptions on its disk"

    def apply(self, lab: Lab, fault: Fault) -> None:
        lab.send_away(fault, "crashed")

    def heal(self, lab: Lab, fault: Fault) -> None:
        lab.call_back(fault)

    def lacks(self, lab: Lab, fault: Fault) -> str | None:
        return None if lab.is_away(fault.name) else f"{fault.name} is still there"

    def remains(self, lab: Lab, fault: Fault) -> str | None:
        return f"{fault.name} is not back" if lab.is_away(fault.name) else None
