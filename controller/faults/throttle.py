"""A broker gets only a part of a processor."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from controller.faults.base import Fault, Lab, Load
from controller.faults.brokers import StrainFault, asked

EFFORT_MS = 30


class ThrottleArguments(Struct, frozen=True, forbid_unknown_fields=True):
    cpu_share: Annotated[float, Meta(ge=0.05, le=0.9)]


class Throttle(StrainFault):
    kind = "throttle"
    summary = "leave a broker no more than cpu_share of one processor"
    Arguments = ThrottleArguments

    def load(self, fault: Fault) -> Load:
        return Load(cpu_share=fault.args["cpu_share"])

    def lacks(self, lab: Lab, fault: Fault) -> str | None:
        asked(lab, fault.name)
        effort = lab.effort(fault.name, EFFORT_MS)
        share = lab.strain(fault.name).cpu_share
        got = effort["worked_ns"] / effort["took_ns"]
        # What is left over from a period before it was throttled is used up first.
        return None if got < (1 + share) / 2 else f"{fault.name} still gets {got:.0%} of a processor"

    def remains(self, lab: Lab, fault: Fault) -> str | None:
        """By what is asked of it: how much of a processor it gets now depends on who else wants one."""
        limited, own = asked(lab, fault.name)["cpu_share"], fault.args["cpu_share"]
        is_gone = lab.strain(fault.name).cpu_share == own or abs(limited - own) > 0.001
        return None if is_gone else f"{fault.name} is still held at {limited:.0%} of a processor"
