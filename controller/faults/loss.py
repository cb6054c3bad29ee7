"""A share of the frames on a link is lost; the sessions send them again."""

from __future__ import annotations

from controller.faults.base import Fault, Wish
from controller.faults.links import LinkFault, SharePerDirection


class Loss(LinkFault):
    kind = "loss"
    summary = "drop a share of the frames on a link"
    Arguments = SharePerDirection

    def wish(self, fault: Fault) -> Wish:
        return Wish(loss=fault.args["share"], direction=fault.args.get("direction", "both"))
