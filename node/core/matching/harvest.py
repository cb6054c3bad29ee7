"""From rows in which each bit is a slot to who holds these slots."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import Any, Generic

from node.core.matching import Holder
from node.core.matching.bits import pick

# One bit for each slot, as an integer or as its bytes, the lowest first.
Hits = int | bytes

# So few hits are picked one by one.
FEW = 8
# Smaller tables do without numpy, whose import takes a tenth of a second and 20 MB.
NUMPY_WIDTH_MIN = 1_000
# So wide rows are looked through twice: numpy finds what is true slowly where little is.
SPARSE_BYTES_MIN = 4_096


class Sheaf(Generic[Holder]):
    """The holders of as many slots as a row has bits. Its width stays."""

    def __init__(self, holders: list[Holder | None]) -> None:
        self.holders = holders
        self.width = len(holders)
        self.bytes = -(-self.width // 8)


class Harvest(Generic[Holder]):
    def __init__(self) -> None:
        self._sheaves: Sequence[Sheaf[Holder]] = ()
        self._uses_numpy = False
        # All holders in one array, of which the first `_filled` sheaves are in place. It keeps holders who are gone;
        # their slots have no hits.
        self._holders: Any = None
        self._filled = 0

    def bring(self, sheaves: Sequence[Sheaf[Holder]]) -> None:
        """From now on the rows are those of these."""
        pairs = zip(sheaves, self._sheaves, strict=False)
        same = sum(1 for _ in takewhile(lambda pair: pair[0] is pair[1], pairs))
        self._filled = min(self._filled, same)
        self._sheaves = sheaves
        self._uses_numpy = sum(sheaf.width for sheaf in sheaves) >= NUMPY_WIDTH_MIN

    def replace(self, at: int, slot: int, holder: Holder) -> None:
        self._sheaves[at].holders[slot] = holder
        if at < self._filled:
            self._holders[self._start(at) + slot] = holder

    def gather(self, found: Sequence[Hits]) -> list[Holder]:
        """Those who hold a slot whose bit is set, sheaf by sheaf, from the lowest slot on."""
        if self._uses_numpy and not _are_few(found):
            return self.gather_many(found)
        holders: list[Any] = []
        for sheaf, hits in zip(self._sheaves, found, strict=True):
            if hits:
                holders += pick(int.from_bytes(hits, "little") if isinstance(hits, bytes) else hits, sheaf.holders)
        return holders

    def gather_many(self, found: Sequence[Hits]) -> list[Holder]:
        """The same for many hits."""
        import numpy as np

        if self._filled < len(self._sheaves):
            self._fill(np)
        data = [
            hits if isinstance(hits, bytes) else hits.to_bytes(sheaf.bytes, "little")
            for hits, sheaf in zip(found, self._sheaves, strict=True)
        ]
        packed = np.frombuffer(b"".join(data), dtype=np.uint8)
        # Among booleans numpy finds what is true many times faster than among bytes.
        if len(packed) < SPARSE_BYTES_MIN:
            slots = np.unpackbits(packed, bitorder="little").view(bool).nonzero()[0]
        else:
            some = (packed != 0).nonzero()[0]
            at = np.unpackbits(packed[some], bitorder="little").view(bool).nonzero()[0]
            slots = (some[at >> 3] << 3) + (at & 7)
        holders: list[Holder] = self._holders[slots].tolist()
        return holders

    def _fill(self, np: Any) -> None:
        width = self._start(len(self._sheaves))
        if self._holders is None or len(self._holders) < width:
            before, self._holders = self._holders, np.empty(width * 5 // 4, dtype=object)
            if before is not None:
                self._holders[: len(before)] = before
        for at in range(self._filled, len(self._sheaves)):
            start, sheaf = self._start(at), self._sheaves[at]
            self._holders[start : start + sheaf.width] = sheaf.holders
        self._filled = len(self._sheaves)

    def _start(self, at: int) -> int:
        return sum(sheaf.bytes for sheaf in self._sheaves[:at]) * 8


def _are_few(found: Sequence[Hits]) -> bool:
    count = 0
    for hits in found:
        if isinstance(hits, bytes):
            return False
        count += hits.bit_count()
    return count <= FEW
