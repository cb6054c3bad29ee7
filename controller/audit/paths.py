"""The way a message took: who handled and forwarded it, in order of time."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from controller.audit.load import events

MESSAGES_MAX = 1000
STEP = pa.struct([
    ("t", pa.int64()), ("node", pa.string()), ("event", pa.string()), ("from", pa.string()), ("to", pa.string()),
    ("kind", pa.string()), ("n", pa.int64()),
])  # fmt: skip


def paths(rows: DataFrame, msgs: list[str]) -> dict[str, list[dict[str, Any]]]:
    """The steps of at most the first thousand of the messages."""
    wanted = msgs[:MESSAGES_MAX]
    if not wanted:
        return {}
    steps = (
        events(rows, "handle", "forward")
        .where(F.col("msg").isin(wanted))
        .select("msg", "t", "node", "event", "from", "to", "kind", "n")
        .toArrow()
        .to_pylist()
    )
    found: dict[str, list[dict[str, Any]]] = {}
    for step in sorted(steps, key=lambda step: (step["t"], step["node"], step["n"])):
        found.setdefault(step.pop("msg"), []).append(step)
    return found
