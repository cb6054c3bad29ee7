"""Follows the logs of a run while it is written, by Spark's Structured Streaming."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

import msgspec
from pyspark.sql import DataFrame

from controller.audit.session import session
from controller.follow.live import Live, State
from controller.follow.source import FORMAT, LogSource
from controller.interrupts import as_interrupts, held, shielded

LOOK_S = 1.0
QUIET_LOOKS = 2
"""So often in a row nothing new is found after the controller's end, and then there is nothing more."""

Look = Callable[[State], None]


class Followed(Exception):
    """The stream broke; the text says why."""


def follow(run: Path, look: Look, spark_master: str | None = None, look_s: float = LOOK_S) -> Live:
    """Until the controller closes its log and nothing more comes; `look` is told of the state now and then."""
    live = Live(_promise(run))
    lock = threading.Lock()
    lines = 0

    def take(batch: DataFrame, _number: int) -> None:
        nonlocal lines
        told = batch.toArrow()
        with lock:
            live.take(zip(told["file"].to_pylist(), told["line"].to_pylist(), strict=True))
            lines += told.num_rows

    with session(spark_master) as spark, tempfile.TemporaryDirectory(prefix="brokerlab-follow-") as place:
        spark.dataSource.register(LogSource)
        stream = spark.readStream.format(FORMAT).option("run", str(run.resolve())).load()
        query = (
            stream.writeStream.foreachBatch(take).option("checkpointLocation", place)
            .trigger(processingTime=f"{look_s} seconds").start()
        )  # fmt: skip
        # Spark's own answer to Ctrl-C breaks into whatever is being asked of it just then.
        with as_interrupts():
            try:
                quiet, seen = 0, -1
                while quiet < QUIET_LOOKS:
                    threading.Event().wait(look_s)
                    with held(), lock:
                        if query.exception() is not None:
                            raise Followed(str(query.exception()))
                        look(live.state())
                        is_idle = live.is_over and lines == seen and not query.status["isTriggerActive"]
                        quiet = quiet + 1 if is_idle else 0
                        seen = lines
            finally:
                with shielded():
                    query.stop()
    return live


def _promise(run: Path) -> str | None:
    try:
        told = msgspec.json.decode((run / "run.json").read_bytes())
        promise = told.get("promise") if isinstance(told, dict) else None
        return promise if isinstance(promise, str) else None
    except (OSError, ValueError, RecursionError):
        return None
