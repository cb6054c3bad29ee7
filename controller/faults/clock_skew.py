"""A broker's clock runs too fast or too slow, or shows too much. Its log keeps the time that all nodes share."""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Struct

from controller.errors import UsageError
from controller.faults.base import Fault, Lab, Load, Unseen
from controller.faults.brokers import StrainFault, asked
from node.strain import AheadMs, ClockRate

SECONDS = 0.5
TOLERATED = 0.1


class SkewArguments(Struct, frozen=True, forbid_unknown_fields=True):
    rate: ClockRate = 1
    ahead_ms: AheadMs = 0


class ClockSkew(StrainFault):
    kind = "clock-skew"
    summary = "let a broker's timers run at `rate` times their speed, or jump ahead_ms ahead; its log's times stay true"
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
        notes = lab.notes(fault)
        reading = _Reading.of(lab, fault.name)
        if "jump_from" in notes and fault.args.get("ahead_ms"):
            jumped_ms = (reading.clock_ns - notes.pop("jump_from")) / 1e6
            if jumped_ms < 0.9 * fault.args["ahead_ms"]:
                return f"the clock of {fault.name} did not jump"
        return _compared(lab, fault, reading)

    def still(self, lab: Lab, fault: Fault) -> str | None:
        """A clock that jumped ahead does not jump back, but goes on at its rate: timers do not live by its face."""
        return _compared(lab, fault, _Reading.of(lab, fault.name))


class _Reading(NamedTuple):
    """What its clock showed at some moment between two of ours."""

    after_s: float
    clock_ns: int
    before_s: float

    @classmethod
    def of(cls, lab: Lab, broker: str) -> _Reading:
        after_s = lab.now_s()
        clock_ns = asked(lab, broker)["clock_ns"]
        return cls(after_s, clock_ns, lab.now_s())


def _compared(lab: Lab, fault: Fault, now: _Reading) -> str | None:
    notes, rate = lab.notes(fault), lab.strain(fault.name).clock_rate
    first = notes.setdefault("first", now)
    elapsed_s_min, elapsed_s_max = now.after_s - first.before_s, now.before_s - first.after_s
    if elapsed_s_min < SECONDS:
        raise Unseen("its clock is being read")
    passed_s = (now.clock_ns - first.clock_ns) / 1e9
    notes["first"] = now
    if (1 - TOLERATED) * rate * elapsed_s_min <= passed_s <= (1 + TOLERATED) * rate * elapsed_s_max:
        return None
    return f"the clock of {fault.name} runs at {passed_s / elapsed_s_max:.2f}, not {rate:g}"
