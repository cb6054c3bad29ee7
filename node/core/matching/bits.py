"""Rows of bits as integers of any length: one `&` decides about thousands of slots at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

Held = TypeVar("Held")
# Slots one by one, or as bits already.
Group = Sequence[int] | int

# So many slots are put in, or taken out, one by one sooner than by way of bytes.
_FEW = 10
# A group is kept as bits if it has a slot for so many bits of the row.
_BITS_PER_SLOT = 512


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
