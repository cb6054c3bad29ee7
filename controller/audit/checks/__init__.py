"""The properties a run is judged by, one per file. To add one: write `find`, and name it at the foot."""

from __future__ import annotations

from controller.audit.checks import (
    advertised,
    confirmed,
    duplicate,
    integrity,
    measured,
    missing,
    order,
    spurious,
    subs,
)
from controller.audit.findings import Check

CHECKS: tuple[Check, ...] = (
    Check("integrity", integrity.find),
    Check("measured", measured.find),
    Check("confirmed", confirmed.find),
    Check("advertised", advertised.find),
    Check("missing", missing.find),
    Check("spurious", spurious.find),
    Check("subs", subs.find),
    Check("duplicate", duplicate.find),
    Check("order", order.find),
)
