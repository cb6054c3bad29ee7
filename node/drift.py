"""The time that a broker's protocol lives by. It is the machine's, unless somebody tampers with it.

Logs keep the machine's clock, which all nodes of a run share; timers, silences and heartbeats go by this one.
"""

from __future__ import annotations


class Drift:
    def __init__(self) -> None:
        self.rate = 1.0
        self.ahead_ns = 0
        self._since = 0
        self._shown = 0
        self._is_true = True

    def at(self, now: int) -> int:
        """What this clock shows when the machine's shows `now`."""
        return now if self._is_true else self._shown + round((now - self._since) * self.rate)

    def until(self, due: int) -> int:
        """When this clock will show `due`, by the machine's: who is woken a nanosecond too early is woken for ever."""
        if self._is_true:
            return due
        when = self._since + round((due - self._shown) / self.rate)
        while self.at(when) < due:
            when += 1
        return when

    def change(self, rate: float, ahead_ns: int, now: int) -> None:
        """From now on it runs at this rate, and is so far ahead: further than before, it jumps; it never goes back."""
        self._shown = self.at(now) + max(0, ahead_ns - self.ahead_ns)
        self._since, self.rate, self.ahead_ns = now, rate, ahead_ns
        self._is_true = False
