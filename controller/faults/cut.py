"""Nothing crosses a link any more, in either direction."""

from __future__ import annotations

from controller.faults.base import Fault, LinkFault, Wish


class Cut(LinkFault):
    kind = "cut"
    summary = "drop everything on a link, both ways"

    def wish(self, fault: Fault) -> Wish:
        return Wish(cut=True)
