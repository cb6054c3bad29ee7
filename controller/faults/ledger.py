"""Which faults are applied, which are being healed. Every blow and every completed cure is recorded here."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal

from controller import faults
from controller.faults.base import Fault, LinkFault
from controller.faults.lab import ClusterLab
from controller.runtimes.base import NodeState

FaultPhase = Literal["apply", "heal"]
Record = Callable[[Fault, FaultPhase], None]


class Skipped(Exception):
    """The fault would hit nothing; the text says why."""


class Ledger:
    def __init__(
        self, lab: ClusterLab, states: Callable[[], dict[str, NodeState]], record: Record, first_number: int = 1
    ) -> None:
        self._lab = lab
        self._states = states
        self._record = record
        self.next_number = first_number
        self.active: dict[str, Fault] = {}
        """Applied, and nobody has begun to heal it."""
        self.healing: dict[str, Fault] = {}

    def recall(self, applied: Iterable[Fault]) -> None:
        """What an earlier command has applied."""
        for fault in applied:
            self.active[fault.id] = fault
            kind = faults.find(fault.kind)
            if isinstance(kind, LinkFault):
                self._lab.recall(fault, kind.wish(fault))

    def apply(self, kind: str, target: str, args: dict[str, Any]) -> Fault:
        """Raises Skipped, with nothing recorded, if there is nothing to hit."""
        one = faults.find(kind)
        one.check(args)
        fault = Fault(f"f{self.next_number}", kind, target, args)
        if one.on == "broker":
            state = self._states()[fault.name]
            if state in one.spares:
                raise Skipped(f"{kind} of {fault.name} skipped: it is {state} already")
        self.next_number += 1
        self._record(fault, "apply")
        self.active[fault.id] = fault
        one.apply(self._lab, fault)
        return fault

    def heal(self, fault: Fault) -> None:
        """Begin to; `settle` tells when it is complete."""
        if self.active.pop(fault.id, None) is None:
            return
        self.healing[fault.id] = fault
        faults.find(fault.kind).heal(self._lab, fault)

    def heal_all(self) -> None:
        self.heal_some(self.active.values())

    def heal_some(self, chosen: Iterable[Fault]) -> None:
        """Links first, then what stands still, then the dead: ready is who has heard all its neighbours."""

        def place(fault: Fault) -> tuple[bool, bool]:
            kind = faults.find(fault.kind)
            return kind.on == "broker", kind.is_death

        for fault in sorted(chosen, key=place):
            self.heal(fault)

    def settle(self) -> list[Fault]:
        """Faults whose healing has been completed since it was last asked."""
        done = [fault for fault in self.healing.values() if faults.find(fault.kind).is_healed(self._lab, fault)]
        for fault in done:
            del self.healing[fault.id]
            self._record(fault, "heal")
        return done

    def on(self, target: str) -> list[Fault]:
        return [fault for fault in self.active.values() if fault.target == target]
