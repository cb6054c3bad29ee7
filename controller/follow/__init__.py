"""`brokerlab audit --follow`: what can be told of a run while it goes on."""

from __future__ import annotations

from controller.follow.following import Followed, follow
from controller.follow.live import Live, State

__all__ = ["Followed", "Live", "State", "follow"]
