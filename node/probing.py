"""Frames that are sent to be measured: what became of them on a link is how the link really is."""

from __future__ import annotations

from collections import OrderedDict

from msgspec import Struct

PROBES_MAX = 3_000
_BATCHES_KEPT = 200


class Probe(Struct, frozen=True, array_like=True):
    token: str
    number: int
    sent_at: int
    padding: bytes = b""


class Arrivals(Struct, frozen=True):
    """What has come of one batch so far. All nodes of a run read one clock, so times can be taken one way."""

    got: int = 0
    """Different ones."""
    doubled: int = 0
    overtaken: int = 0
    """Those that came after one that was sent later."""
    fastest_ms: float = 0
    middle_ms: float = 0
    slowest_ms: float = 0
    took_ms: float = 0
    """From the first that arrived to the last."""


class Probes:
    def __init__(self) -> None:
        self._batches: OrderedDict[str, list[tuple[int, int, int]]] = OrderedDict()

    def note(self, probe: Probe, now: int) -> None:
        if probe.token not in self._batches:
            self._batches[probe.token] = []
            if len(self._batches) > _BATCHES_KEPT:
                self._batches.popitem(last=False)
        batch = self._batches[probe.token]
        if len(batch) < 2 * PROBES_MAX:
            batch.append((probe.number, probe.sent_at, now))

    def arrivals(self, token: str) -> Arrivals:
        batch = self._batches.get(token)
        if not batch:
            return Arrivals()
        seen: set[int] = set()
        highest, overtaken = -1, 0
        for number, _, _ in batch:
            overtaken += number < highest and number not in seen
            highest = max(highest, number)
            seen.add(number)
        delays = sorted((now - sent_at) / 1e6 for _, sent_at, now in batch)
        return Arrivals(
            got=len(seen),
            doubled=len(batch) - len(seen),
            overtaken=overtaken,
            fastest_ms=delays[0],
            middle_ms=delays[len(delays) // 2],
            slowest_ms=delays[-1],
            took_ms=(batch[-1][2] - batch[0][2]) / 1e6,
        )
