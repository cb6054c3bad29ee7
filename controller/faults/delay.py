"""Everything on a link takes longer, in both directions; healed, it takes as long as the topology says."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from controller.faults.base import Fault, LinkFault, Wish

DELAY_MS_MAX = 3_600_000


class DelayArguments(Struct, frozen=True, forbid_unknown_fields=True):
    delay_ms: Annotated[int, Meta(ge=0, le=DELAY_MS_MAX)] | Annotated[float, Meta(ge=0, le=DELAY_MS_MAX)]


class Delay(LinkFault):
    kind = "delay"
    summary = "hold back everything on a link, both ways, for delay_ms"
    Arguments = DelayArguments

    def wish(self, fault: Fault) -> Wish:
        return Wish(delay_ms=fault.args["delay_ms"])
