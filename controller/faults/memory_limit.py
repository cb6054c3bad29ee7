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

    def lacks(self, lab: Lab, fault: Fault) -> str | None:
        limit, wanted_mb = asked(lab, fault.name)["memory_limit"], lab.strain(fault.name).memory_mb
        is_set = limit is not None and wanted_mb is not None and limit <= wanted_mb << 20
        return None if is_set else f"the limit of {fault.name} is {limit} bytes"

    def remains(self, lab: Lab, fault: Fault) -> str | None:
        limit, wanted_mb = asked(lab, fault.name)["memory_limit"], lab.strain(fault.name).memory_mb
        is_gone = wanted_mb == fault.args["limit_mb"] or limit != fault.args["limit_mb"] << 20
        return None if is_gone else f"the limit of {fault.name} is still {limit} bytes"
