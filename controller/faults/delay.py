"""Everything on a link takes longer; healed, it takes as long as the topology says."""

from __future__ import annotations

from controller.faults.base import Fault, Wish
from controller.faults.links import LinkFault, OneWay
from node.shaping import Millis


class DelayArguments(OneWay, frozen=True, forbid_unknown_fields=True, kw_only=True):
    delay_ms: Millis
    jitter_ms: Millis = 0


class Delay(LinkFault):
    kind = "delay"
    summary = "hold back everything on a link for delay_ms, and up to jitter_ms more"
    Arguments = DelayArguments

    def wish(self, fault: Fault) -> Wish:
        args = fault.args
        return Wish(delay_ms=args["delay_ms"], jitter_ms=args.get("jitter_ms"), direction=args.get("direction", "both"))
