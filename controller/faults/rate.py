"""A link carries only so much."""

from __future__ import annotations

from controller.faults.base import Fault, Wish
from controller.faults.links import LinkFault, OneWay
from node.shaping import Kbps


class RateArguments(OneWay, frozen=True, forbid_unknown_fields=True, kw_only=True):
    rate_kbps: Kbps


class Rate(LinkFault):
    kind = "rate"
    summary = "let a link carry no more than rate_kbps (1,000 bits per second)"
    Arguments = RateArguments

    def wish(self, fault: Fault) -> Wish:
        return Wish(rate_kbps=fault.args["rate_kbps"], direction=fault.args.get("direction", "both"))
