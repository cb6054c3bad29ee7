"""A link that comes and goes."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from controller.faults.base import Fault, Wish
from controller.faults.links import LinkFault

_MS = Annotated[int, Meta(ge=20, le=600_000)] | Annotated[float, Meta(ge=20, le=600_000)]


class FlapArguments(Struct, frozen=True, forbid_unknown_fields=True):
    up_ms: _MS = 1_000
    down_ms: _MS = 500


class Flap(LinkFault):
    kind = "flap"
    summary = "let a link pass for up_ms, cut it for down_ms, and so on"
    Arguments = FlapArguments

    def wish(self, fault: Fault) -> Wish:
        return Wish(flap_up_ms=fault.args.get("up_ms", 1_000), flap_down_ms=fault.args.get("down_ms", 500))
