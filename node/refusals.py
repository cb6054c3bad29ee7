"""What is refused is recorded, but a stranger cannot fill the disk: the first of each kind one by one, then counted."""

from __future__ import annotations

from typing import NamedTuple

import structlog

ONE_BY_ONE = 100
SUMMARY_NS = 10_000_000_000
TEXT_MAX = 300


class Refusal(NamedTuple):
    what: str
    why: str


def to_operators(refusal: Refusal) -> None:
    structlog.get_logger().warning("refused", what=refusal.what, why=refusal.why)


class _Tally:
    __slots__ = ("counted", "summary_at", "told")

    def __init__(self) -> None:
        self.told = 0
        self.counted = 0
        self.summary_at = 0


class Refusals:
    def __init__(self) -> None:
        self._tallies: dict[str, _Tally] = {}
        self._ready: list[Refusal] = []

    def note(self, kind: str, what: str, why: str, now: int) -> None:
        """`kind` comes from our own small set of words; `what` and `why` may be a stranger's."""
        tally = self._tallies.setdefault(kind, _Tally())
        if tally.told < ONE_BY_ONE:
            tally.told += 1
            self._ready.append(Refusal(what[:TEXT_MAX], why[:TEXT_MAX]))
            return
        if tally.counted == 0:
            tally.summary_at = now + SUMMARY_NS
        tally.counted += 1

    def take(self, now: int, final: bool = False) -> list[Refusal]:
        """What is to be recorded now; with `final`, all that was only counted so far too."""
        ready, self._ready = self._ready, []
        for kind, tally in self._tallies.items():
            if tally.counted and (final or now >= tally.summary_at):
                ready.append(Refusal(kind, f"{tally.counted} more, not recorded one by one"))
                tally.counted = 0
        return ready
