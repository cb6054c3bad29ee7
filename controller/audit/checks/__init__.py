"""The properties a run is judged by, one per file. To add one: write `find`, and name it at the foot."""

from __future__ import annotations

from controller.audit.checks import (
    advertised,
    confirmed,
    duplicate,
    excess,
    false_positives,
    gaps,
    integrity,
    links,
    loops,
    measured,
    missing,
    order,
    overload,
    promises,
    refused,
    settled,
    spurious,
    subs,
    unsubscribed,
)
from controller.audit.findings import Check

CHECKS: tuple[Check, ...] = (
    Check("integrity", integrity.find),
    Check("measured", measured.find),
    Check("overload", overload.find),
    Check("confirmed", confirmed.find),
    Check("settled", settled.find),
    Check("advertised", advertised.find),
    Check("refused", refused.find),
    Check("missing", missing.find),
    Check("gaps", gaps.find),
    Check("spurious", spurious.find),
    Check("unsubscribed", unsubscribed.find),
    Check("subs", subs.find),
    Check("duplicate", duplicate.find),
    Check("order", order.find),
    Check("links", links.find),
    Check("false-positives", false_positives.find),
    Check("excess", excess.find),
    Check("loops", loops.find),
    Check("promises", promises.find),
)
