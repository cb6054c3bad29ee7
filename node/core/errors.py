"""The error's type says whose fault it was."""

from __future__ import annotations


class PeerError(Exception):
    """Something from outside is wrong: it is refused, recorded and survived."""

    def __init__(self, what: str, why: str) -> None:
        super().__init__(f"{what}: {why}")
        self.what = what
        self.why = why


class InvariantViolation(Exception):
    """We are wrong: the broker stops, and the message tells the story."""
