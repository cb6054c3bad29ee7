"""A share of the frames on a link arrives twice."""

from __future__ import annotations

from controller.faults.base import Fault, Wish
from controller.faults.links import LinkFault, SharePerDirection


class Duplicate(LinkFault):
    kind = "duplicate"
    summary = "send a share of the frames on a link twice"
    Arguments = SharePerDirection

    def wish(self, fault: Fault) -> Wish:
        return Wish(duplicate=fault.args["share"], direction=fault.args.get("direction", "both"))
