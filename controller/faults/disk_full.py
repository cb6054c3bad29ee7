"""The disk under a broker's log is full: what cannot be told must not be done, so the broker waits."""

from __future__ import annotations

from controller.faults.base import Fault, Lab, Load, Unseen
from controller.faults.brokers import StrainFault, asked


class DiskFull(StrainFault):
    kind = "disk-full"
    summary = "leave no room on the disk for a broker's log"

    def load(self, fault: Fault) -> Load:
        return Load(disk_full=True)

    def lacks(self, lab: Lab, fault: Fault) -> str | None:
        if not asked(lab, fault.name)["stalled"]:
            # A broker that has nothing to tell does not notice; it samples itself twice a second.
            raise Unseen(f"{fault.name} has not written since")
        return None

    def remains(self, lab: Lab, fault: Fault) -> str | None:
        is_stalled, is_wanted = asked(lab, fault.name)["stalled"], lab.strain(fault.name).disk_full
        return f"{fault.name} cannot write its log" if is_stalled and not is_wanted else None
