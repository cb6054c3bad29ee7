"""What only a simulated cluster has to be told: how long things take that on real machines take as long as they do."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct, structs

from node.core.session import MS, Limits

RUNTIME = "sim"

Frames = Annotated[int, Meta(ge=1, le=1_000_000)]
Millis = Annotated[int, Meta(ge=1, le=3_600_000)]
Micros = Annotated[int, Meta(ge=0, le=60_000_000)] | Annotated[float, Meta(ge=0, le=60_000_000)]


class Settings(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The default times are a broker's on the machine of docs/design.md, 'The simulator'."""

    publication_us: Micros = 40
    """A broker's work on a publication, its share of sessions, frames and log included."""
    control_us: Micros = 60
    """The same for every other message."""
    entry_us: Micros = 0
    """More work on each message for each entry in the broker's table."""
    hop_us: Micros = 100
    """From broker to broker, before what the topology adds; between broker and client."""
    credit: Frames | None = None
    """How many publications a receiver takes ahead; this and what follows is every node's own figure if left out."""
    window: Frames | None = None
    batch: Frames | None = None
    heartbeat_ms: Millis | None = None
    silence_ms: Millis | None = None
    """Nothing heard for so long is an absence."""

    def limits(self, usual: Limits) -> Limits:
        """Of a session."""
        told = {
            "credit": self.credit,
            "window": self.window,
            "batch": self.batch,
            "heartbeat_ns": None if self.heartbeat_ms is None else self.heartbeat_ms * MS,
            "silence_ns": None if self.silence_ms is None else self.silence_ms * MS,
        }
        return structs.replace(usual, **{name: value for name, value in told.items() if value is not None})
