"""A broker gets only a part of a processor."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from controller.faults.base import Fault, Lab, Load
from controller.faults.brokers import StrainFault, asked

EFFORT_MS = 30
# Of the share, for what is rounded on its way through the kernel.
TOLERATED = 0.02


class ThrottleArguments(Struct, frozen=True, forbid_unknown_fields=True):
    cpu_share: Annotated[float, Meta(ge=0.05, le=0.9)]


class Throttle(StrainFault):
    kind = "throttle"
    summary = "leave a broker no more than cpu_share of one processor"
    Arguments = ThrottleArguments

    def load(self, fault: Fault) -> Load:
        return Load(cpu_share=fault.args["cpu_share"])

    def lacks(self, lab: Lab, fault: Fault) -> str | None:
        """By what it can do, and by its limit: on a busy machine it could do as little without any."""
        limited, share = asked(lab, fault.name)["cpu_share"], lab.strain(fault.name).cpu_share
        if limited > share * (1 + TOLERATED):
            return f"{fault.name} may have {limited:.0%} of a processor"
        effort = lab.effort(fault.name, EFFORT_MS)
        got = effort["worked_ns"] / effort["took_ns"]
        # What is left over from a period before it was throttled is used up first.
        return None if got < (1 + share) / 2 else f"{fault.name} still gets {got:.0%} of a processor"

    def still(self, lab: Lab, fault: Fault) -> str | None:
        """By what is asked of it: how much of a processor it gets now depends on who else wants one."""
        limited, share = asked(lab, fault.name)["cpu_share"], lab.strain(fault.name).cpu_share
        is_gone = limited >= share * (1 - TOLERATED)
        return None if is_gone else f"{fault.name} is still held at {limited:.0%} of a processor"
