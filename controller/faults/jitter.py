"""Frames on a link take more or less time, each its own."""

from __future__ import annotations

from controller.faults.base import Fault, Wish
from controller.faults.links import LinkFault, OneWay
from node.shaping import Millis


class JitterArguments(OneWay, frozen=True, forbid_unknown_fields=True, kw_only=True):
    jitter_ms: Millis


class Jitter(LinkFault):
    kind = "jitter"
    summary = "hold back each frame on a link for up to jitter_ms, drawn anew"
    Arguments = JitterArguments

    def wish(self, fault: Fault) -> Wish:
        return Wish(jitter_ms=fault.args["jitter_ms"], direction=fault.args.get("direction", "both"))
