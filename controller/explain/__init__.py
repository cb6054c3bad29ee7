"""Why one message did or did not reach one subscription: hop by hop, from the logs, in a second or two."""

from __future__ import annotations

from controller.explain.story import Story, tell
from controller.explain.telling import lines

__all__ = ["Story", "lines", "tell"]
