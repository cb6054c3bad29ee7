"""Sets of brokers are cut off from each other: one record for each link between them."""

from __future__ import annotations

from controller.faults.base import Fault, Wish
from controller.faults.links import LinkFault


class Partition(LinkFault):
    kind = "partition"
    summary = "cut every link between sets of brokers, or around one"

    @property
    def hits(self) -> str:
        return "brokers"

    def wish(self, fault: Fault) -> Wish:
        return Wish(cut=True)
