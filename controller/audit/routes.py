"""What each publication did inside the network, beside what it had to: one pass over all hops, message by message.

The hops of a message are brought together with the brokers that want it, so no hop is compared with another message's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from controller.audit.load import events
from controller.audit.overlay import Hop, Overlay

WANTED, PUBLISHED, FORWARDED, HANDLED = range(4)

FALSE_POSITIVE, ASTRAY, AGAIN, STRANGE, LOOP, UNHANDLED, UNFORWARDED, TOTAL = (
    "false-positive", "astray", "again", "strange", "loop", "unhandled", "unforwarded", "total"
)  # fmt: skip
"""What a row tells of: a hop towards nobody, away from everybody who is left, a second time, where no link is; a broker
that handled the message more than once; a hop that the receiver or the sender knows nothing of. `total`: of a link, how
often it was crossed (`count`), how often that brought a message nearer to somebody (`needed`)."""

OF_LINK = pa.schema([
    ("what", pa.string()), ("msg", pa.string()), ("a", pa.string()), ("b", pa.string()), ("t", pa.int64()),
    ("count", pa.int64()), ("needed", pa.int64()),
])  # fmt: skip


class Step(NamedTuple):
    """A broker `b` that wants the message, or a hop a → b; `a` may be a client, and is where it was published."""

    tag: int
    a: str | None
    b: str
    t: int


Row = tuple[str, str | None, str, str, int | None, int, int]


def hops(rows: DataFrame, wanted: DataFrame, brokers: list[str]) -> DataFrame:
    """Rows (msg, tag, a, b, t). `wanted` has (msg, broker, t): who was owed or allowed the message, asked for at t."""
    is_publication = F.col("kind") == "publication"
    between = events(rows, "forward", "handle").where(is_publication & F.col("msg").isNotNull())
    forwarded = F.col("event") == "forward"
    return (
        between.where(~forwarded | F.col("to").isin(brokers))
        .select(
            "msg", F.when(forwarded, FORWARDED).otherwise(HANDLED).alias("tag"),
            F.when(forwarded, F.col("node")).otherwise(F.col("from")).alias("a"),
            F.when(forwarded, F.col("to")).otherwise(F.col("node")).alias("b"), "t",
        )
        .unionAll(wanted.select("msg", F.lit(WANTED), _nobody(), "broker", "t"))
        .unionAll(events(rows, "publish").select("msg", F.lit(PUBLISHED), "client", "broker", "t"))
    )  # fmt: skip


def _nobody() -> Column:
    return F.lit(None).cast("string")


def judged(steps: DataFrame, overlay: Overlay) -> DataFrame:
    return (
        steps.repartition("msg")
        .sortWithinPartitions("msg", "t")
        .mapInArrow(_judge_all(overlay), from_arrow_schema(OF_LINK))
    )


def _judge_all(overlay: Overlay) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def judge_all(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        judge = Judge(overlay)
        for msg, steps in _messages(batches):
            judge.judge(msg, steps)
            if len(judge.found) > _BATCH_ROWS:
                yield _batch(judge.found)
                judge.found = []
        yield _batch([*judge.found, *judge.totals()])

    return judge_all


_BATCH_ROWS = 8192


def _batch(rows: list[Row]) -> pa.RecordBatch:
    columns = zip(*rows, strict=True) if rows else ([] for _ in OF_LINK)
    return pa.RecordBatch.from_arrays(
        [pa.array(list(column), field.type) for column, field in zip(columns, OF_LINK, strict=True)], schema=OF_LINK
    )


def _messages(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[str, list[Step]]]:
    """The steps of one message after the other; they come sorted."""
    current: str | None = None
    steps: list[Step] = []
    for batch in batches:
        columns = [batch.column(name).to_pylist() for name in ("msg", "tag", "a", "b", "t")]
        for msg, tag, a, b, t in zip(*columns, strict=True):
            if msg != current:
                if current is not None:
                    yield current, steps
                current, steps = msg, []
            steps.append(Step(tag, a, b, t))
    if current is not None:
        yield current, steps


class Judge:
    def __init__(self, overlay: Overlay) -> None:
        self._overlay = overlay
        self._number_of = overlay.number_of
        self._names = sorted(overlay.number_of)
        self._crossed: Counter[Hop] = Counter()
        self._needed: Counter[Hop] = Counter()
        self.found: list[Row] = []

    def totals(self) -> list[Row]:
        return [
            (TOTAL, None, self._names[a], self._names[b], None, count, self._needed[a, b])
            for (a, b), count in sorted(self._crossed.items())
        ]

    def judge(self, msg: str, steps: list[Step]) -> None:
        """The steps in order of time."""
        forwarded = [step for step in steps if step.tag == FORWARDED]
        handled = [step for step in steps if step.tag == HANDLED]
        if forwarded:
            self._follow(msg, steps, forwarded)
        if handled:
            self._count_visits(msg, handled)
        self._balance(msg, forwarded, handled)
        self._see_in(msg, steps, handled)

    def _follow(self, msg: str, steps: list[Step], forwarded: list[Step]) -> None:
        overlay, number_of = self._overlay, self._number_of
        wanted = [(step.t, 1 << number_of[step.b]) for step in steps if step.tag == WANTED and step.b in number_of]
        everybody = 0
        for _, bit in wanted:
            everybody |= bit
        asked_last_t = wanted[-1][0] if wanted else 0
        home = next((number_of.get(step.b) for step in steps if step.tag == PUBLISHED), None)
        ideal = overlay.ideal(home, everybody) if home is not None else None
        taken: set[Hop] = set()
        for _, a_name, b_name, t in forwarded:
            hop = (number_of.get(a_name or "", -1), number_of[b_name])
            behind = overlay.behind.get(hop)
            if behind is None:
                self._tell(STRANGE, msg, a_name or "", b_name, t)
                continue
            self._crossed[hop] += 1
            asked = everybody if asked_last_t <= t else _asked_by(wanted, t)
            if not behind & asked:
                self._tell(FALSE_POSITIVE, msg, a_name or "", b_name, t)
            elif hop in taken:
                self._tell(AGAIN, msg, a_name or "", b_name, t)
            elif ideal is not None and hop not in ideal:
                self._tell(ASTRAY, msg, a_name or "", b_name, t)
            else:
                self._needed[hop] += 1
            taken.add(hop)

    def _count_visits(self, msg: str, handled: list[Step]) -> None:
        """On a tree nobody meets a message twice; elsewhere it may come once from each side."""
        visits = Counter(
            (step.b, None if self._overlay.has_one_way else step.a) for step in handled if step.b in self._number_of
        )
        for (broker, came_from), count in visits.items():
            if count > 1:
                last = next(step for step in reversed(handled) if step.b == broker and came_from in (None, step.a))
                self._tell(LOOP, msg, last.a or "", broker, last.t, count)

    def _balance(self, msg: str, forwarded: list[Step], handled: list[Step]) -> None:
        arrivals = [step for step in handled if step.a in self._number_of]
        if len(arrivals) == len(forwarded) and {s[1:3] for s in arrivals} == {s[1:3] for s in forwarded}:
            return
        sent, got = Counter(s[1:3] for s in forwarded), Counter(s[1:3] for s in arrivals)
        for a, b in {**sent, **got}:
            surplus = sent[a, b] - got[a, b]
            if surplus:
                side = forwarded if surplus > 0 else arrivals
                last = next(step for step in reversed(side) if (step.a, step.b) == (a, b))
                self._tell(UNHANDLED if surplus > 0 else UNFORWARDED, msg, a or "", b, last.t, abs(surplus))

    def _see_in(self, msg: str, steps: list[Step], handled: list[Step]) -> None:
        """A publication enters at some broker; who moves may have gone to another one meanwhile."""
        published = next((step for step in steps if step.tag == PUBLISHED), None)
        if published is not None and not any(step.a == published.a for step in handled):
            self._tell(UNHANDLED, msg, published.a or "", published.b, published.t)

    def _tell(self, what: str, msg: str, a: str, b: str, t: int, count: int = 1) -> None:
        self.found.append((what, msg, a, b, t, count, 0))


def _asked_by(wanted: list[tuple[int, int]], t: int) -> int:
    asked = 0
    for asked_t, bit in wanted:
        if asked_t > t:
            break
        asked |= bit
    return asked


class Routes:
    """What was found, counted once: whoever asks for a sort of which there is none starts no job."""

    def __init__(self, found: DataFrame) -> None:
        self._found = found
        totals: list[dict[str, Any]] = (
            found.groupBy("what", *[F.when(F.col("what") == TOTAL, F.col(end)).alias(end) for end in ("a", "b")])
            .agg(F.count("*").alias("rows"), F.sum("count").alias("count"), F.sum("needed").alias("needed"))
            .toArrow()
            .to_pylist()
        )
        self.links = [row for row in totals if row["what"] == TOTAL]
        self.counts: Counter[str] = Counter({row["what"]: row["rows"] for row in totals if row["what"] != TOTAL})

    @property
    def crossed(self) -> int:
        return sum(row["count"] for row in self.links)

    @property
    def needed(self) -> int:
        return sum(row["needed"] for row in self.links)

    def of(self, *whats: str) -> DataFrame | None:
        if not any(self.counts[what] for what in whats):
            return None
        return self._found.where(F.col("what").isin(*whats))
