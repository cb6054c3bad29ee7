"""What a fault is: how it is applied, how it is healed, and when the healing is complete."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Literal, Protocol

import msgspec
from msgspec import Struct

from controller.errors import UsageError
from controller.runtimes.base import NodeState

TargetKind = Literal["broker", "link"]


class NoArguments(Struct, frozen=True, forbid_unknown_fields=True):
    pass


class Fault(Struct, frozen=True):
    """One fault on one target."""

    id: str
    kind: str
    target: str
    """`broker:<name>` or `link:<a>-<b>`."""
    args: dict[str, Any] = {}

    @property
    def name(self) -> str:
        """The broker or the link."""
        return self.target.partition(":")[2]


class Wish(Struct, frozen=True):
    """What a fault asks of a link; None leaves it to others, in the end to the topology."""

    delay_ms: float | None = None
    cut: bool | None = None


class Lab(Protocol):
    """What a fault can do to a running cluster."""

    def kill(self, broker: str) -> None: ...
    def start(self, broker: str) -> None: ...
    def pause(self, broker: str) -> None: ...
    def resume(self, broker: str) -> None: ...
    def is_ready(self, broker: str) -> bool: ...

    def shape(self, fault: Fault, wish: Wish) -> None:
        """From now on this fault asks for that on its link, at both ends; a later fault outweighs an earlier one."""

    def unshape(self, fault: Fault) -> None:
        """The fault asks for nothing any more; what other faults ask for stays."""


class FaultKind(ABC):
    kind: ClassVar[str]
    on: ClassVar[TargetKind]
    summary: ClassVar[str]
    Arguments: ClassVar[type[Struct]] = NoArguments
    heals_at_once: ClassVar[bool] = False
    """The cure follows the blow; there is no time in between to be chosen."""
    is_death: ClassVar[bool] = False
    spares: ClassVar[tuple[NodeState, ...]] = ("dead",)
    """Brokers in these states have nothing left to be hit."""

    @abstractmethod
    def apply(self, lab: Lab, fault: Fault) -> None: ...

    @abstractmethod
    def heal(self, lab: Lab, fault: Fault) -> None: ...

    def is_healed(self, lab: Lab, fault: Fault) -> bool:
        """Whether the healing that was begun is complete."""
        return True

    def check(self, args: dict[str, Any]) -> None:
        try:
            msgspec.convert(args, self.Arguments)
        except msgspec.ValidationError as error:
            raise UsageError(f"fault {self.kind}: {error}") from None


class LinkFault(FaultKind):
    """A fault that lies in how both ends treat the frames on a link."""

    on = "link"

    @abstractmethod
    def wish(self, fault: Fault) -> Wish: ...

    def apply(self, lab: Lab, fault: Fault) -> None:
        lab.shape(fault, self.wish(fault))

    def heal(self, lab: Lab, fault: Fault) -> None:
        lab.unshape(fault)
