"""The few rows of a run that one message is about: from the audit's typed tables, or else from the logs.

Neither needs Spark.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from controller.audit.facts import RunFacts, gather
from controller.audit.load import WRITTEN, LogFile, file_facts, log_files
from controller.audit.scan import scan
from controller.audit.schema import EVENTS, ROWS

Row = dict[str, Any]


class Book:
    def __init__(self, run: Path) -> None:
        self.run = run
        self._files, self._misnamed = log_files(run)
        self._tables = run / "tables" if _are_fresh(run / "tables", self._files) else None
        self._scanned: dict[str, list[pa.RecordBatch]] | None = None

    @property
    def is_from_tables(self) -> bool:
        return self._tables is not None

    def facts(self) -> RunFacts | None:
        """Who took part and what is damaged; None if no audit has read these logs."""
        if self._tables is None:
            return None
        return gather(self.run, file_facts(self._tables), self._misnamed, self._tables)

    def rows(self, *events: str, columns: tuple[str, ...] | None = None, **equal: str) -> list[Row]:
        """With `event` added; in order of time, and of lines within a file."""
        found = [{**row, "event": event} for event in events for row in self._of(event, columns, equal)]
        return sorted(found, key=lambda row: (row["t"], row["file"], row["line"]))

    def _of(self, event: str, columns: tuple[str, ...] | None, equal: dict[str, str]) -> Iterator[Row]:
        nothing = dict.fromkeys(columns or ROWS.names)
        for row in self._stored(event, columns, equal):
            yield {**nothing, **row}

    def _stored(self, event: str, columns: tuple[str, ...] | None, equal: dict[str, str]) -> Iterator[Row]:
        """Each event is stored with its own columns only."""
        own = EVENTS[event].names
        wanted = None if columns is None else [c for c in dict.fromkeys((*columns, "t", "file", "line")) if c in own]
        if self._tables is not None:
            folder = self._tables / f"event={event}"
            if folder.exists():
                filters = [(name, "=", value) for name, value in equal.items()] or None
                yield from pq.read_table(folder, columns=wanted, filters=filters, partitioning=None).to_pylist()
            return
        for batch in self._batches().get(event, ()):
            kept = pa.Table.from_batches([batch])
            for name, value in equal.items():
                kept = kept.filter(pc.equal(kept[name], value))
            yield from (kept.select(wanted) if wanted else kept).to_pylist()

    def _batches(self) -> dict[str, list[pa.RecordBatch]]:
        if self._scanned is None:
            self._scanned = {}
            for file in self._files:
                for event, batch in scan(Path(file.path), file.node, file.inc):
                    self._scanned.setdefault(event, []).append(batch)
        return self._scanned


def _are_fresh(tables: Path, files: list[LogFile]) -> bool:
    """Written to the end, and after the last log was."""
    mark = tables / WRITTEN
    if not mark.exists():
        return False
    written_at = mark.stat().st_mtime
    return all(Path(file.path).stat().st_mtime <= written_at for file in files)
