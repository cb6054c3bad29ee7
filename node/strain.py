"""What a broker is made to work under: a part of a processor, a wrong clock, a full disk, no network."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

CPU_SHARE_MIN = 0.01
CLOCK_RATE_MAX = 20
AHEAD_MS_MAX = 600_000

CpuShare = Annotated[int, Meta(ge=1, le=1)] | Annotated[float, Meta(ge=CPU_SHARE_MIN, le=1)]
ClockRate = Annotated[int, Meta(ge=1, le=CLOCK_RATE_MAX)] | Annotated[float, Meta(ge=0.05, le=CLOCK_RATE_MAX)]
AheadMs = Annotated[int, Meta(ge=0, le=AHEAD_MS_MAX)] | Annotated[float, Meta(ge=0, le=AHEAD_MS_MAX)]
MemoryMb = Annotated[int, Meta(ge=1, le=1 << 20)]


class Strain(Struct, frozen=True, forbid_unknown_fields=True):
    cpu_share: CpuShare = 1
    """Of one processor: after each piece of work the broker rests until it has used no more than this."""
    memory_mb: MemoryMb | None = None
    clock_rate: ClockRate = 1
    """How many seconds its timers count in one."""
    clock_ahead_ms: AheadMs = 0
    """How far they have jumped; less than before is no jump back."""
    disk_full: bool = False
    """Its log takes nothing more."""
    isolated: bool = False
    """It hears nobody, and nobody hears it; only the controller still does."""
