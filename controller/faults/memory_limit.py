"""A broker gets only so much memory; one that needs more dies of it, and no fault excuses that."""

from __future__ import annotations

from msgspec import Struct

from controller.faults.base import Fault, Lab, Load
from controller.faults.brokers import StrainFault, asked
from node.strain import MemoryMb


class MemoryArguments(Struct, frozen=True, forbid_unknown_fields=True):
    limit_mb: MemoryMb


class Memory(StrainFault):
    kind = "memory"
    summary = "leave a broker no more than limit_mb of memory"
    Arguments = MemoryArguments

    def load(self, fault: Fault) -> Load:
        return Load(memory_mb=fault.args["limit_mb"])

    def apply(self, lab: Lab, fault: Fault) -> None:
        before = lab.status(fault.name)
        lab.notes(fault)["before"] = None if before is None else before["memory_limit"]
        super().apply(lab, fault)

    def heal(self, lab: Lab, fault: Fault) -> None:
        lab.unload(fault)

    def lacks(self, lab: Lab, fault: Fault) -> str | None:
        limit = asked(lab, fault.name)["memory_limit"]
        wanted_mb = lab.strain(fault.name).memory_mb or fault.args["limit_mb"]
        return None if limit is not None and limit <= wanted_mb << 20 else f"the limit of {fault.name} is {limit} bytes"

    def remains(self, lab: Lab, fault: Fault) -> str | None:
        limit, wanted_mb = asked(lab, fault.name)["memory_limit"], lab.strain(fault.name).memory_mb
        should = lab.notes(fault).get("before") if wanted_mb is None else wanted_mb << 20
        return None if limit == should else f"the limit of {fault.name} is {limit} bytes, not {should}"
