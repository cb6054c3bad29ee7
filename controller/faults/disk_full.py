"""The disk under a broker's log is full: what cannot be told must not be done, so the broker waits."""

from __future__ import annotations

from controller.faults.base import Fault, Lab, Load, Unseen
from controller.faults.brokers import StrainFault, asked

# A broker that has nothing to tell does not notice; but it samples itself twice a second.
WRITES_WITHIN_S = 5.0


class DiskFull(StrainFault):
    kind = "disk-full"
    summary = "leave no room on the disk for a broker's log"

    def load(self, fault: Fault) -> Load:
        return Load(disk_full=True)

    def apply(self, lab: Lab, fault: Fault) -> None:
        lab.notes(fault)["since_s"] = lab.now_s()
        super().apply(lab, fault)

    def lacks(self, lab: Lab, fault: Fault) -> str | None:
        if asked(lab, fault.name)["stalled"]:
            return None
        if lab.now_s() - lab.notes(fault)["since_s"] < WRITES_WITHIN_S:
            raise Unseen(f"{fault.name} has not written since")
        return f"{fault.name} still writes its log"

    def still(self, lab: Lab, fault: Fault) -> str | None:
        is_stalled, is_wanted = asked(lab, fault.name)["stalled"], lab.strain(fault.name).disk_full
        return f"{fault.name} cannot write its log" if is_stalled and not is_wanted else None
