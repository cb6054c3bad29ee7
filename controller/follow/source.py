"""Growing log files as a stream for Spark: whole lines only, files that appear later included.

Spark's own file source takes a file for finished when it sees it; a log is not finished until its node is.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition

FORMAT = "brokerlab-logs"
SCHEMA = "file string, line binary"
AT_ONCE_BYTES = 8 * 2**20
"""Of each file in one batch, so that a long log is caught up with piece by piece."""
_ROWS = pa.schema([("file", pa.string()), ("line", pa.binary())])
_BATCH_ROWS = 4096
_TAIL_BYTES = 1 << 16
_NOT_FOLLOWED = frozenset({"handle", "forward", "link"})


class Piece(InputPartition):
    """The lines of a file between two places that each begin a line."""

    def __init__(self, path: str, start: int, end: int) -> None:
        super().__init__(None)
        self.path, self.start, self.end = path, start, end


class LogSource(DataSource):
    @classmethod
    def name(cls) -> str:
        return FORMAT

    def schema(self) -> str:
        return SCHEMA

    def streamReader(self, schema: Any) -> DataSourceStreamReader:  # noqa: N802 (Spark's name)
        return LogReader(Path(self.options["run"]))


class LogReader(DataSourceStreamReader):
    """An offset is how many bytes of each file have been read."""

    def __init__(self, run: Path) -> None:
        self._logs = run / "logs"
        self._reached: dict[str, int] = {}

    def initialOffset(self) -> dict[str, int]:  # noqa: N802 (Spark's name)
        return {}

    def latestOffset(self, *_: Any) -> dict[str, int]:  # noqa: N802 (Spark's name)
        for path in sorted(self._logs.glob("*.jsonl")):
            self._reached[path.name] = whole_lines_end(path, self._reached.get(path.name, 0))
        return dict(self._reached)

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> list[InputPartition]:
        return [
            Piece(str(self._logs / name), start.get(name, 0), reached)
            for name, reached in sorted(end.items())
            if reached > start.get(name, 0)
        ]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, Piece)
        yield from followed_lines(partition)

    def commit(self, end: dict[str, int]) -> None:
        return


def whole_lines_end(path: Path, start: int) -> int:
    """Where the last whole line ends, no further than a batch takes; at least one line, however long it is."""
    with path.open("rb") as log:
        end = min(os.fstat(log.fileno()).st_size, start + AT_ONCE_BYTES)
        at = end
        while at > start:
            begin = max(start, at - _TAIL_BYTES)
            log.seek(begin)
            found = log.read(at - begin).rfind(b"\n")
            if found >= 0:
                return begin + found + 1
            at = begin
        if end - start < AT_ONCE_BYTES:
            return start
        log.seek(end)
        rest = log.readline()
        return log.tell() if rest.endswith(b"\n") else start


class _Event(msgspec.Struct):
    event: str


def followed_lines(piece: Piece) -> Iterator[pa.RecordBatch]:
    """Without what brokers say of single messages, which is most of a log; garbage is left to the audit."""
    decode = msgspec.json.Decoder(_Event).decode
    waiting: list[bytes] = []
    name = Path(piece.path).name
    with Path(piece.path).open("rb") as log:
        log.seek(piece.start)
        while log.tell() < piece.end:
            line = log.readline()
            try:
                is_followed = decode(line).event not in _NOT_FOLLOWED
            except (ValueError, RecursionError):
                continue
            if is_followed:
                waiting.append(line)
            if len(waiting) == _BATCH_ROWS:
                yield _batch(name, waiting)
                waiting = []
    if waiting:
        yield _batch(name, waiting)


def _batch(name: str, lines: list[bytes]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(
        [pa.array([name] * len(lines), pa.string()), pa.array(lines, pa.binary())], schema=_ROWS
    )
