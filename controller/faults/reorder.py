"""A share of the frames on a link is overtaken by later ones."""

from __future__ import annotations

from controller.faults.base import Fault, Wish
from controller.faults.links import LinkFault, SharePerDirection


class Reorder(LinkFault):
    kind = "reorder"
    summary = "let later frames overtake a share of the frames on a link"
    Arguments = SharePerDirection

    def wish(self, fault: Fault) -> Wish:
        return Wish(reorder=fault.args["share"], direction=fault.args.get("direction", "both"))
