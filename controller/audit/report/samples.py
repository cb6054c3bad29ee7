"""Some messages of the run, picked evenly, with the way each took: for a run in which nothing went wrong, too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from controller.audit.report.model import Violation
from controller.audit.report.tables import violation

SAMPLES = 8
STEP = ("msg", "t", "node", "from", "to", "kind", "n")


def samples(run: Path) -> tuple[Violation, ...]:
    """From the typed logs; nothing if the run keeps none, or its brokers told nothing of messages."""
    published = _rows(run, "publish", ("msg", "t", "client"), None)
    published.sort(key=lambda row: (row["t"], row["msg"]))
    picked = published[len(published) // (2 * SAMPLES) :: max(1, len(published) // SAMPLES)][:SAMPLES]
    wanted = pc.field("msg").isin([row["msg"] for row in picked])
    if not picked:
        return ()
    steps = [{**row, "event": event} for event in ("handle", "forward") for row in _rows(run, event, STEP, wanted)]
    steps.sort(key=lambda step: (step["t"], step["node"], step["n"]))
    return tuple(_told(row, [step for step in steps if step["msg"] == row["msg"]]) for row in picked) if steps else ()


def _told(row: dict[str, Any], path: list[dict[str, Any]]) -> Violation:
    told = {"check": "sample", "msg": row["msg"], "client": row["client"], "t": row["t"], "path": path}
    return violation({**told, "detail": f"{row['msg']}, published by {row['client']}"})


def _rows(run: Path, event: str, columns: tuple[str, ...], wanted: Any) -> list[dict[str, Any]]:
    folder = run / "tables" / f"event={event}"
    try:
        table = ds.dataset(folder, format="parquet").to_table(columns=list(columns), filter=wanted)
    except (pa.ArrowException, OSError):
        return []
    return [row for row in table.to_pylist() if row["msg"] is not None and row["t"] is not None]
