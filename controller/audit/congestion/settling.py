"""How long the network took to come to rest after each fault, each healing and each burst."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from controller.audit.congestion.intervals import Interval
from controller.audit.facts import RunFacts

BURST_MESSAGES_MIN = 50
SETTLING = pa.schema([
    ("cause", pa.string()), ("fault", pa.string()), ("t", pa.int64()), ("messages", pa.int64()),
    ("settle_ns", pa.int64()), ("drained_ns", pa.int64()), ("quiet_ns", pa.int64()),
])  # fmt: skip


def settling(facts: RunFacts, triggered: pa.Table, congested: list[Interval]) -> pa.Table:
    """`settle_ns`: until the last control message that it set off; `drained_ns`: until no broker is congested any
    more, 0 if none was; `quiet_ns`: until the controller saw the network at rest, for the healing of a fault."""
    quiet = [phase.start_t for phase in facts.phases if phase.name == "quiet" and phase.start_t is not None]
    heals = {window.id: window.heal_t for window in facts.windows}
    rows: list[dict[str, Any]] = []
    for row in triggered.to_pylist():
        if row["fault"] is None and row["messages"] < BURST_MESSAGES_MIN:
            continue
        t = row["t"]
        is_healing = row["fault"] is not None and t >= (heals.get(row["fault"]) or t + 1)
        seen_quiet_t = next((one for one in quiet if one >= t), None) if is_healing else None
        rows.append({
            "cause": row["cause"], "fault": row["fault"], "t": t, "messages": row["messages"],
            "settle_ns": row["settle_ns"], "drained_ns": _drained_t(t, row["last_t"], congested) - t,
            "quiet_ns": None if seen_quiet_t is None else seen_quiet_t - t,
        })  # fmt: skip
    return pa.Table.from_pylist(sorted(rows, key=lambda row: row["t"]), SETTLING)


def _drained_t(t: int, last_t: int, congested: list[Interval]) -> int:
    """Congestion that overlaps what was set off, and what follows without a break."""
    end_t, drained_t = last_t, t
    for interval in sorted(congested, key=lambda one: one.start_t):
        if interval.end_t > t and interval.start_t <= max(end_t, drained_t):
            drained_t = max(drained_t, interval.end_t)
    return drained_t
