"""A broker is taken off the network: no neighbour and no client reaches it, nor it them."""

from __future__ import annotations

from controller.faults.base import Fault, Lab, Load, Unseen
from controller.faults.brokers import StrainFault, unready

SEEN_WITHIN_S = 15.0


class Isolate(StrainFault):
    kind = "isolate"
    summary = "take a broker off the network; healed by connecting it again"

    def load(self, fault: Fault) -> Load:
        return Load(isolated=True)

    def apply(self, lab: Lab, fault: Fault) -> None:
        lab.notes(fault)["since_s"] = lab.now_s()
        super().apply(lab, fault)

    def lacks(self, lab: Lab, fault: Fault) -> str | None:
        """Its neighbours' word: they hear nothing of it."""
        linked = {name: lab.status(name) for name in lab.neighbours(fault.name) if lab.state(name) == "running"}
        told = {name: status["links"][fault.name]["state"] for name, status in linked.items() if status is not None}
        if not told:
            raise Unseen(f"no neighbour of {fault.name} can be asked now")
        hearing = [name for name, state in told.items() if state == "up"]
        if not hearing:
            return None
        if lab.now_s() - lab.notes(fault)["since_s"] > SEEN_WITHIN_S:
            return f"{hearing[0]} still hears {fault.name}"
        raise Unseen("silence takes its time to be noticed")

    def still(self, lab: Lab, fault: Fault) -> str | None:
        if lab.strain(fault.name).isolated or lab.state(fault.name) != "running":
            return None
        return unready(lab, fault.name)
