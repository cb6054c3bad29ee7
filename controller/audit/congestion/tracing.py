"""Which handling of a control message at one broker was caused by which at another.

A `forward` names the `handle` that caused it, and the neighbour handles what was sent in the order it was sent: so the
two are laid side by side, link by link. What is sent to a broker that then dies is never handled; a new incarnation at
either end tells that nothing sent before is under way any more.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from controller.audit.load import events

RENEWED, SENT, TAKEN = range(3)
LINES_MAX = 2**40
"""An id is a file's number times this, plus the line's number within the file."""
UNTRACED = ("publication", "settled", "refused")

STEPS = pa.schema([
    ("a", pa.string()), ("b", pa.string()), ("t", pa.int64()), ("tag", pa.int32()), ("inc", pa.int64()),
    ("kind", pa.string()), ("about", pa.string()), ("id", pa.int64()), ("cause", pa.int64()),
])  # fmt: skip
FROM_WHERE = pa.schema([("id", pa.int64()), ("parent", pa.int64())])


class Waiting(NamedTuple):
    inc: int
    parent: int


def control(rows: DataFrame, files: list[str]) -> DataFrame:
    """Everything that brokers say of control messages, each line with an id, and with the id of its cause."""
    told = events(rows, "handle", "forward", "link").where(F.col("kind").isNull() | ~F.col("kind").isin(*UNTRACED))
    is_up = (F.col("event") != "link") | ((F.col("state") == "up") & F.col("reason").startswith("incarnation"))
    cause = F.col("id") - F.col("n") + F.col("cause")
    return numbered(told.where(is_up), files).select(
        "event", "node", "inc", "t", "kind", F.coalesce("sub", "adv", F.lit("")).alias("about"),
        F.coalesce("from", "to", "peer").alias("peer"), "id", cause.alias("cause"), "entries", "bytes",
        "wait_ns", "work_ns",
    )  # fmt: skip


def numbered(rows: DataFrame, files: list[str]) -> DataFrame:
    """With the `id` of each line."""
    starts = [(file, number * LINES_MAX) for number, file in enumerate(files)]
    known = rows.sparkSession.createDataFrame(starts, "file string, start long")
    return rows.join(F.broadcast(known), "file").withColumn("id", F.col("start") + F.col("n")).drop("start")


def parents(told: DataFrame, brokers: list[str]) -> DataFrame:
    """(id, parent) of every control message that was handled and was sent by a broker.

    The parent is the `handle` that caused it to be sent, or else the `forward` itself, which nothing heard caused.
    """
    between = _steps(told.where(F.col("peer").isin(brokers)))
    matched = between.repartition("a", "b").sortWithinPartitions("a", "b", "t", "tag", "id")
    return matched.mapInArrow(_match_all, from_arrow_schema(FROM_WHERE))


def _steps(told: DataFrame) -> DataFrame:
    """In the direction of the messages; news of a new incarnation concerns both directions."""
    outwards = told.where("event != 'handle'").withColumns({"a": F.col("node"), "b": F.col("peer")})
    inwards = told.where("event != 'forward'").withColumns({"a": F.col("peer"), "b": F.col("node")})
    tag = F.when(F.col("event") == "forward", SENT).when(F.col("event") == "handle", TAKEN).otherwise(RENEWED)
    # At the sender everything before is void; at the receiver what an earlier life of the sender sent.
    is_receivers_news = (F.col("event") == "link") & (F.col("b") == F.col("node"))
    return outwards.unionAll(inwards).select(
        "a", "b", "t", tag.alias("tag"), F.when(~is_receivers_news, F.col("inc")).alias("inc"), "kind", "about", "id",
        "cause",
    )  # fmt: skip


def _match_all(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    matcher = Matcher()
    for batch in batches:
        columns = [batch.column(name).to_pylist() for name in STEPS.names]
        for a, b, _, tag, inc, kind, about, line, cause in zip(*columns, strict=True):
            matcher.take((a, b), tag, inc, (kind, about), line, cause)
        found, matcher.found = matcher.found, []
        yield pa.RecordBatch.from_arrays(
            [pa.array([one[i] for one in found], pa.int64()) for i in range(2)], schema=FROM_WHERE
        )


class Matcher:
    """Takes the steps of one link after the other, each in order of time."""

    def __init__(self) -> None:
        self.found: list[tuple[int, int]] = []
        self._link: tuple[str, str] | None = None
        self._under_way: dict[tuple[str | None, str | None], deque[Waiting]] = {}
        self._inc = 0

    def take(
        self,
        link: tuple[str, str],
        tag: int,
        inc: int | None,
        what: tuple[str | None, str | None],
        line: int,
        cause: int | None,
    ) -> None:
        if link != self._link:
            self._link, self._under_way, self._inc = link, defaultdict(deque), 0
        if tag == RENEWED:
            self._renew(inc)
        elif tag == SENT:
            self._inc = max(self._inc, inc or 0)
            self._under_way[what].append(Waiting(inc or 0, line if cause is None else cause))
        elif waiting := self._under_way[what]:
            self.found.append((line, waiting.popleft().parent))

    def _renew(self, inc: int | None) -> None:
        if inc is not None:
            self._under_way.clear()
            return
        for waiting in self._under_way.values():
            while waiting and waiting[0].inc < self._inc:
                waiting.popleft()


Keep = Callable[[DataFrame], DataFrame]


def roots(traced: DataFrame, kept: Keep) -> DataFrame:
    """(id, root, depth): where each began, over how many hops; pointers are doubled, so long ways take few rounds."""
    found = kept(traced.select("id", F.col("parent").alias("root"), F.lit(1).alias("depth")))
    while True:
        up = found.select(F.col("id").alias("root"), F.col("root").alias("above"), F.col("depth").alias("more"))
        found = kept(
            found.join(up, "root", "left").select(
                "id", F.coalesce("above", "root").alias("root"),
                (F.col("depth") + F.coalesce("more", F.lit(0))).alias("depth"), "above",
            )
        )  # fmt: skip
        if found.where("above is not null").isEmpty():
            return found.select("id", "root", "depth")
        found = found.drop("above")
