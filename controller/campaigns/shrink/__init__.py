"""A failing simulated run, reduced to what it takes: delta debugging, then everything simpler that still breaks."""

from __future__ import annotations

from controller.campaigns.shrink.shrinking import Shrinker, offence

__all__ = ["Shrinker", "offence"]
