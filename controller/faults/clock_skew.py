"""A broker's clock runs too fast or too slow, or shows too much. Its log keeps the time that all nodes share."""

from __future__ import annotations

from msgspec import Struct

from controller.errors import UsageError
from controller.faults.base import Fault, Lab, Load, Unseen
from controller.faults.brokers import StrainFault, asked
from node.strain import AheadMs, ClockRate

SECONDS = 0.5


class SkewArguments(Struct, frozen=True, forbid_unknown_fields=True):
    rate: ClockRate = 1
    ahead_ms: AheadMs = 0


class ClockSkew(StrainFault):
    kind = "clock-skew"
    summary = "let a broker's timers run at `rate` times their speed, or ahead_ms ahead; its log's times stay true"
    Arguments = SkewArguments

    def check_more(self, args: SkewArguments) -> None:
        if args == SkewArguments():
            raise UsageError("fault clock-skew: say rate (such as 1.5) or ahead_ms, or both")

    def load(self, fault: Fault) -> Load:
        return Load(clock_rate=fault.args.get("rate"), clock_ahead_ms=fault.args.get("ahead_ms"))

    def apply(self, lab: Lab, fault: Fault) -> None:
        before = lab.status(fault.name)
        super().apply(lab, fault)
        if before is not None:
            lab.notes(fault).update(jump_from=before["clock_ns"])

    def lacks(self, lab: Lab, fault: Fault) -> str | None:
        return _compared(lab, fault)

    def remains(self, lab: Lab, fault: Fault) -> str | None:
        return _compared(lab, fault)


def _compared(lab: Lab, fault: Fault) -> str | None:
    """Two readings of its clock beside two of ours."""
    clock_ns, now_s = asked(lab, fault.name)["clock_ns"], lab.now_s()
    notes = lab.notes(fault)
    if "jump_from" in notes and fault.args.get("ahead_ms"):
        before_ns = notes.pop("jump_from")
        if (clock_ns - before_ns) / 1e6 < 0.9 * fault.args["ahead_ms"]:
            return f"the clock of {fault.name} did not jump"
    rate = lab.strain(fault.name).clock_rate
    first_s, first_ns = notes.setdefault("first", (now_s, clock_ns))
    elapsed_s = now_s - first_s
    if elapsed_s < SECONDS:
        raise Unseen("its clock is being read")
    got = (clock_ns - first_ns) / 1e9 / elapsed_s
    notes["first"] = (now_s, clock_ns)
    return None if abs(got - rate) <= 0.2 * rate else f"the clock of {fault.name} runs at {got:.2f}, not {rate:g}"
