"""Log files to typed tables: read once, written once as Parquet, everything else reads the tables."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from controller.audit import schema
from controller.audit.scan import FILE_NAME, FileFacts, scan
from controller.errors import UsageError

WRITTEN = "_SUCCESS"
"""This file is there if all tables are, as Spark does it."""

Batches = Iterable[pa.RecordBatch]

# Few texts, in many rows; for all other columns a dictionary is tried in vain.
_REPEATED = ["node", "file", "broker", "client", "publisher", "from", "to", "kind"]


class LogFile(NamedTuple):
    path: str
    node: str
    inc: int
    size: int


def log_files(run: Path) -> tuple[list[LogFile], list[str]]:
    """The logs of a run, and the names of files that should be logs but are not named like one."""
    if not run.is_dir():
        raise UsageError(f"{run} is no run directory: give the directory that `brokerlab campaign run` printed")
    found, misnamed = [], []
    for path in sorted((run / "logs").glob("*.jsonl")):
        named = FILE_NAME.fullmatch(path.name)
        if named is None:
            misnamed.append(path.name)
        else:
            found.append(LogFile(str(path.resolve()), named["node"], int(named["inc"]), path.stat().st_size))
    if not found:
        raise UsageError(f"{run} has no logs: expected {run / 'logs'}/<node>.<incarnation>.jsonl")
    return found, misnamed


def load(spark: SparkSession, files: list[LogFile], tables: Path) -> DataFrame:
    """Writes the rows of all files below `tables`, one folder per event, and returns them."""
    if tables.exists():
        shutil.rmtree(tables)
    shares = deal(files, spark.sparkContext.defaultParallelism)
    numbered = spark.range(0, len(shares), 1, len(shares))
    numbered.mapInArrow(_writer(shares, str(tables.resolve())), "share long").collect()
    (tables / WRITTEN).touch()
    return read(spark, tables)


def read(spark: SparkSession, tables: Path) -> DataFrame:
    return spark.read.schema(_spark_schema()).parquet(str(tables))


def file_facts(tables: Path) -> list[FileFacts]:
    """One small row per log file, so they need no Spark job."""
    facts = pq.read_table(tables / "event=file", columns=["facts"], partitioning=None)["facts"].to_pylist()
    return sorted((msgspec.json.decode(text, type=FileFacts) for text in facts), key=lambda f: (f.node, f.inc))


def events(rows: DataFrame, *names: str) -> DataFrame:
    return rows.where(F.col("event").isin(*names))


def deal(files: list[LogFile], hands: int) -> list[list[LogFile]]:
    """Shares of about the same size, one per task."""
    shares: list[list[LogFile]] = [[] for _ in range(min(hands, len(files)))]
    sizes = [0] * len(shares)
    for file in sorted(files, key=lambda f: (-f.size, f.path)):
        smallest = sizes.index(min(sizes))
        shares[smallest].append(file)
        sizes[smallest] += file.size
    return shares


def _writer(shares: list[list[LogFile]], tables: str) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    """Each task writes what it read: rows that go through the JVM on their way to the disk cost several times more."""

    def write_shares(batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for share in batch.column(0).to_pylist():
                write_share(shares[share], share, Path(tables))
            yield pa.RecordBatch.from_pydict({"share": batch.column(0)})

    return write_shares


def write_share(files: list[LogFile], share: int, tables: Path) -> None:
    """A share's files bear its number, so a task that is repeated writes the same ones again."""
    writers: dict[str, pq.ParquetWriter] = {}
    with ExitStack() as opened:
        for file in files:
            for event, rows in scan(Path(file.path), file.node, file.inc):
                if event not in writers:
                    folder = tables / f"event={event}"
                    folder.mkdir(parents=True, exist_ok=True)
                    writers[event] = opened.enter_context(
                        pq.ParquetWriter(folder / f"share-{share}.parquet", rows.schema, compression="zstd",
                                         use_dictionary=_REPEATED)
                    )  # fmt: skip
                writers[event].write_batch(rows)


def _spark_schema():  # type: ignore[no-untyped-def]  # pyspark ships no types for it
    return from_arrow_schema(schema.ROWS)
