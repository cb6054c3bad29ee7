"""A broker gets only so much memory; one that needs more dies of it, and no fault excuses that."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from controller.faults.base import Fault, Lab, Load
from controller.faults.brokers import StrainFault, asked

# Below this no runtime starts a process.
LIMIT_MB_MIN = 6
LimitMb = Annotated[int, Meta(ge=LIMIT_MB_MIN, le=1 << 20)]


class MemoryArguments(Struct, frozen=True, forbid_unknown_fields=True):
    limit_mb: LimitMb


class Memory(StrainFault):
    kind = "memory"
    summary = "leave a broker no more than limit_mb of memory"
    Arguments = MemoryArguments

    def load(self, fault: Fault) -> Load:
        return Load(memory_mb=fault.args["limit_mb"])

    def lacks(self, lab: Lab, fault: Fault) -> str | None:
        if lab.state(fault.name) == "dead":
            return None  # it needed more
        limit, wanted_mb = asked(lab, fault.name)["memory_limit"], lab.strain(fault.name).memory_mb
        is_set = limit is not None and wanted_mb is not None and limit <= wanted_mb << 20
        return None if is_set else f"the limit of {fault.name} is {limit} bytes"

    def still(self, lab: Lab, fault: Fault) -> str | None:
        limit, wanted_mb = asked(lab, fault.name)["memory_limit"], lab.strain(fault.name).memory_mb
        is_gone = wanted_mb == fault.args["limit_mb"] or limit != fault.args["limit_mb"] << 20
        return None if is_gone else f"the limit of {fault.name} is still {limit} bytes"
