"""What a fault is: how it is applied, how it is seen to bite, how it is healed, and how it is seen to be gone."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Literal, Protocol

import msgspec
from msgspec import Struct

from controller.errors import UsageError
from controller.runtimes.base import NodeState
from controller.yamlfile import in_words
from controller.yamltypes import locate
from node.shaping import Shape
from node.strain import Strain

TargetKind = Literal["broker", "link", "client"]
Direction = Literal["both", "forth", "back"]
"""Of a link a-b: both ways, only from a to b, only from b to a."""


class NoArguments(Struct, frozen=True, forbid_unknown_fields=True):
    pass


class Fault(Struct, frozen=True):
    """One fault on one target."""

    id: str
    kind: str
    target: str
    """`broker:<name>`, `link:<a>-<b>` or `client:<name>`."""
    args: dict[str, Any] = {}

    @property
    def on(self) -> str:
        return self.target.partition(":")[0]

    @property
    def name(self) -> str:
        """The broker, the link or the client."""
        return self.target.partition(":")[2]


class Wish(Struct, frozen=True):
    """What a fault asks of a link; None leaves it to others, in the end to the topology."""

    delay_ms: float | None = None
    cut: bool | None = None
    jitter_ms: float | None = None
    loss: float | None = None
    duplicate: float | None = None
    reorder: float | None = None
    rate_kbps: float | None = None
    flap_up_ms: float | None = None
    flap_down_ms: float | None = None
    direction: Direction = "both"


class Load(Struct, frozen=True):
    """What a fault puts a broker under; None leaves it to others, in the end to nobody."""

    cpu_share: float | None = None
    memory_mb: int | None = None
    clock_rate: float | None = None
    clock_ahead_ms: float | None = None
    disk_full: bool | None = None
    isolated: bool | None = None


class Unseen(Exception):
    """It cannot be told, or not yet, whether a fault bites; the text says why. No evidence against it."""


class Hidden(Unseen):
    """Another fault is in the way, and nothing can be told for as long as that lasts."""


class Lab(Protocol):
    """What a fault can do to a running cluster, and see of it."""

    def kill(self, fault: Fault) -> None:
        """The fault's broker is dead until all faults that want that have ended."""

    def leave(self, broker: str) -> None:
        """Ask it to hand over everything, and to take nothing more."""

    def stop(self, fault: Fault) -> None:
        """The orderly end; as `kill`, until nobody wants it any more."""

    def start(self, fault: Fault) -> None: ...
    def pause(self, fault: Fault) -> None: ...
    def resume(self, fault: Fault) -> None: ...
    def state(self, broker: str) -> NodeState: ...
    def neighbours(self, broker: str) -> tuple[str, ...]: ...
    def is_severed(self, broker: str, neighbour: str) -> bool:
        """Whether faults that last keep the two from hearing each other."""

    def is_ready(self, broker: str) -> bool: ...
    def is_measurable(self, broker: str) -> bool:
        """Whether the frames that it sends and gets show how its links are."""

    def answers(self, broker: str) -> bool: ...
    def status(self, node: str) -> dict[str, Any] | None: ...
    def now_s(self) -> float: ...
    def notes(self, fault: Fault) -> dict[str, Any]:
        """What a kind wants to remember about one fault while it lasts."""

    def shape(self, fault: Fault, wish: Wish) -> None:
        """From now on this fault asks for that on its link; a later fault outweighs an earlier one."""

    def unshape(self, fault: Fault) -> None:
        """The fault asks for nothing any more; what other faults ask for stays."""

    def shapes(self, link: str) -> dict[tuple[str, str], Shape]:
        """How both directions, from one broker to another, should be now."""

    def load(self, fault: Fault, load: Load) -> None: ...
    def unload(self, fault: Fault) -> None: ...
    def strain(self, broker: str) -> Strain:
        """What all faults together put this broker under."""

    def probe(self, sender: str, receiver: str, token: str, count: int, size: int) -> None:
        """Send so many frames to be measured over a link."""

    def probed(self, receiver: str, token: str) -> dict[str, Any]: ...
    def effort(self, broker: str, ms: int) -> dict[str, Any]: ...
    def send_away(self, fault: Fault, how: str) -> None: ...
    def call_back(self, fault: Fault) -> None: ...
    def is_away(self, client: str) -> bool: ...


class FaultKind(ABC):
    kind: ClassVar[str]
    on: ClassVar[tuple[TargetKind, ...]]
    summary: ClassVar[str]
    Arguments: ClassVar[type[Struct]] = NoArguments
    heals_at_once: ClassVar[bool] = False
    """The cure follows the blow; there is no time in between to be chosen."""
    is_death: ClassVar[bool] = False
    """It may lose what the broker had; it alone excuses losses."""
    ends_broker: ClassVar[bool] = False
    """The broker is not there before it is healed."""
    spares: ClassVar[tuple[NodeState, ...]] = ("dead",)
    """Brokers in these states have nothing left to be hit."""

    @abstractmethod
    def apply(self, lab: Lab, fault: Fault) -> None: ...

    @abstractmethod
    def heal(self, lab: Lab, fault: Fault) -> None: ...

    @abstractmethod
    def lacks(self, lab: Lab, fault: Fault) -> str | None:
        """What shows that it does not bite; None once it was seen to. Asked again and again; raises Unseen."""

    @abstractmethod
    def remains(self, lab: Lab, fault: Fault) -> str | None:
        """What shows that the healing is not complete; None once the fault was seen to be gone. Raises Unseen."""

    def check(self, args: dict[str, Any]) -> None:
        try:
            self.check_more(msgspec.convert(args, self.Arguments))
        except msgspec.ValidationError as error:
            found = locate(str(error), args, self.Arguments)
            told = ": ".join([*map(str, found.path), in_words(found)])
            raise UsageError(f"fault {self.kind}: {told}") from None

    def check_more(self, args: Any) -> None:  # noqa: B027 - most kinds have nothing to add
        """Raises UsageError for what the types of the arguments cannot say."""

    @property
    def hits(self) -> str:
        """For people: what is named first."""
        return self.on[0]

    @property
    def targets(self) -> str:
        """For people: what it may hit."""
        return " or a ".join(self.on)
