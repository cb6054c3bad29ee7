"""Nothing crosses a link any more, in either direction or in one."""

from __future__ import annotations

from controller.faults.base import Fault, Wish
from controller.faults.links import LinkFault, OneWay


class Cut(LinkFault):
    kind = "cut"
    summary = "drop everything on a link, both ways or (direction: forth or back) one way"
    Arguments = OneWay

    def wish(self, fault: Fault) -> Wish:
        return Wish(cut=True, direction=fault.args.get("direction", "both"))
