"""What only a simulated cluster has to be told: how long things take that on real machines take as long as they do."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

RUNTIME = "sim"

Micros = Annotated[int, Meta(ge=0, le=60_000_000)] | Annotated[float, Meta(ge=0, le=60_000_000)]


class Settings(Struct, frozen=True, forbid_unknown_fields=True):
    """Microseconds. The defaults are a broker's on the machine of docs/design.md, 'The simulator'."""

    publication_us: Micros = 40
    """A broker's work on a publication, its share of sessions, frames and log included."""
    control_us: Micros = 60
    """The same for every other message."""
    entry_us: Micros = 0
    """More work on each message for each entry in the broker's table."""
    hop_us: Micros = 100
    """From broker to broker, before what the topology adds; between broker and client."""
