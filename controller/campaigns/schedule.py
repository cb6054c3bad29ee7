"""What is due when: the blows and cures of a timetable, in order of time. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from controller import faults
from controller.campaigns.timetable import FaultEvent


class Due(NamedTuple):
    at_s: float
    number: int
    """Which event of the timetable."""
    what: Literal["apply", "heal"]


class Schedule:
    """A fault without an end is healed with everything else when the load is over, unless it heals at once."""

    def __init__(self, events: Iterable[FaultEvent]) -> None:
        self.events = tuple(events)
        due: list[Due] = []
        for number, event in enumerate(self.events):
            due.append(Due(event.at_s, number, "apply"))
            until_s = event.at_s if faults.find(event.kind).heals_at_once else event.until_s
            if until_s is not None:
                due.append(Due(until_s, number, "heal"))
        # At the same moment cures come first, so that a fault that comes again finds its target whole; but never
        # before its own blow.
        self._due = sorted(due, key=lambda one: (one.at_s, one.what == "apply" or self._is_instant(one), one.number))

    def _is_instant(self, due: Due) -> bool:
        return due.at_s == self.events[due.number].at_s

    def take(self, elapsed_s: float) -> list[Due]:
        """Everything whose time has come, once."""
        ready = [one for one in self._due if one.at_s <= elapsed_s]
        self._due = self._due[len(ready) :]
        return ready

    def next_s(self) -> float | None:
        return self._due[0].at_s if self._due else None
