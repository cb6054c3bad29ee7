"""Faults that put a broker under strain, and how the strain is seen."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from controller.faults.base import Fault, FaultKind, Hidden, Lab, Load, Unseen


class StrainFault(FaultKind):
    on = ("broker",)

    @abstractmethod
    def load(self, fault: Fault) -> Load: ...

    @abstractmethod
    def still(self, lab: Lab, fault: Fault) -> str | None:
        """What shows that a living broker is still under it; as `remains`."""

    def apply(self, lab: Lab, fault: Fault) -> None:
        lab.load(fault, self.load(fault))

    def heal(self, lab: Lab, fault: Fault) -> None:
        lab.notes(fault).clear()
        lab.unload(fault)

    def remains(self, lab: Lab, fault: Fault) -> str | None:
        """A broker that died meanwhile is not started under what nobody asks for any more."""
        return None if lab.state(fault.name) == "dead" else self.still(lab, fault)


def asked(lab: Lab, broker: str) -> dict[str, Any]:
    """The broker's own word; Unseen from one that is not able to give it."""
    if (state := lab.state(broker)) != "running":
        raise Hidden(f"{broker} is {state}")
    status = lab.status(broker)
    if status is None and lab.strain(broker).isolated:
        raise Hidden(f"{broker} is isolated")
    if status is None:
        raise Unseen(f"{broker} did not answer")
    return status


def unready(lab: Lab, broker: str) -> str | None:
    """What a broker that is back still lacks; Hidden if it waits only for whom other faults keep from it."""
    if lab.is_ready(broker):
        return None
    waits_for: list[str] = asked(lab, broker)["waiting_for"]
    told = f"{broker} waits for {', '.join(waits_for) or 'what it is to be told'}"
    if waits_for and all(lab.is_severed(broker, name) for name in waits_for):
        raise Hidden(f"{told}, and other faults are in between")
    return told
