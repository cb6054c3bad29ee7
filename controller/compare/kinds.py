"""How many messages of which kind went from broker to broker, from the audit's typed logs; needs no Spark."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds


def between_brokers(run: Path, brokers: Sequence[str]) -> dict[str, int] | None:
    """None if the brokers' hops were not logged; the hops to clients are left out."""
    folder = run / "tables" / "event=forward"
    try:
        hops = ds.dataset(folder, format="parquet").to_table(columns=["kind"], filter=pc.field("to").isin(brokers))
    except (pa.ArrowException, OSError):
        return None
    counted = hops.group_by("kind").aggregate([("kind", "count")]).to_pylist()
    found = {str(row["kind"]): int(row["kind_count"]) for row in counted}
    return {kind: found[kind] for kind in sorted(found, key=lambda kind: (-found[kind], kind))}
