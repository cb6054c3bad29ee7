"""Rows of bits as integers of any length: one `&` decides about thousands of slots at once."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import TypeVar

from node.core.matching.rows import Bounds, Ladder, Rows

Held = TypeVar("Held")
# Slots one by one, or as bits already.
Group = Sequence[int] | int

# So many slots are put in, or picked, one by one sooner than by way of bytes.
_FEW = 10
# A group is kept as bits if it has a slot for so many bits of the row.
_BITS_PER_SLOT = 2_048
# After every so many slots a ladder keeps the row so far.
STEP = 16


def bits_of(slots: Group) -> int:
    if isinstance(slots, int):
        return slots
    if len(slots) <= _FEW:
        bits = 0
        for slot in slots:
            bits |= 1 << slot
        return bits
    data = bytearray((max(slots) >> 3) + 1)
    for slot in slots:
        data[slot >> 3] |= 1 << (slot & 7)
    return int.from_bytes(data, "little")


def grouped(slots: list[int], width: int) -> Group:
    """As bits already where that takes not much more room, in rows of that width."""
    return bits_of(slots) if len(slots) * _BITS_PER_SLOT >= width else slots


def without(bits: int, others: int) -> int:
    """`bits & ~others`, which takes longer: the complement is a negative number."""
    return (bits | others) ^ others


def pick(bits: int, held: Sequence[Held]) -> list[Held]:
    """What is held by the slots whose bits are set, from the lowest on."""
    found = []
    if bits.bit_count() <= _FEW:
        # The highest first: what is left grows shorter.
        while bits:
            slot = bits.bit_length() - 1
            found.append(held[slot])
            bits ^= 1 << slot
        return found[::-1]
    before = -1
    for word in memoryview(bits.to_bytes(-(-bits.bit_length() // 32) * 4, "little")).cast("I"):
        left = word
        while left:
            found.append(held[before + (left & -left).bit_length()])
            left &= left - 1
        before += 32
    return found


class BitRows(Rows[int]):
    def __init__(self, width: int) -> None:
        self._width = width

    def everyone(self) -> int:
        return (1 << self._width) - 1

    def row(self, slots: list[int]) -> int:
        return bits_of(slots)

    def group(self, slots: list[int]) -> Group:
        return grouped(slots, self._width)

    def is_row(self, group: Group) -> bool:
        return isinstance(group, int)

    def plus(self, row: int, group: Group) -> int:
        return row | bits_of(group)

    def minus(self, row: int, group: Group) -> int:
        return without(row, bits_of(group))

    def both(self, row: int, other: int) -> int:
        return row & other

    def copy(self, row: int) -> int:
        return row

    def ladder(self, bounds: Bounds, base: int) -> Ladder[int]:
        return _BitLadder(bounds, base)


class _BitLadder(Ladder[int]):
    def __init__(self, bounds: Bounds, base: int) -> None:
        super().__init__(bounds)
        self._slots = array("I", bounds.slots)
        self._marks = [base]
        for start in range(0, len(self._slots), STEP):
            base |= bits_of(self._slots[start : start + STEP])
            self._marks.append(base)

    def row(self, count: int) -> int:
        nearest = (count + STEP // 2) // STEP
        row = self._marks[nearest]
        start = nearest * STEP
        # Each slot is there once, so what puts it in also takes it out.
        for slot in self._slots[start:count] if start < count else self._slots[count:start]:
            row ^= 1 << slot
        return row
