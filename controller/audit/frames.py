"""Frames that are worked out once, and frames of which every task gets a copy."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

COPIED_ROWS_MAX = 1_000_000


def kept(frame: DataFrame) -> DataFrame:
    """Worked out once, with the way it was worked out forgotten: what builds on a long plan is planned for long."""
    return frame.localCheckpoint()


def copied(frame: DataFrame, rows: int) -> DataFrame:
    """To be joined by giving each task a copy, if it has no more rows than that is good for; else both are shuffled."""
    return F.broadcast(frame) if rows <= COPIED_ROWS_MAX else frame
