"""What a check found: rows in one shape, as many as can be looked at, and how many there were in all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import NamedTuple

import msgspec
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from controller.audit.evidence import Evidence

PASS, FAIL, UNKNOWN = "pass", "fail", "unknown"
LISTED_MAX = 2000
_COLUMNS = ("verdict", "client", "msg", "sub", "t", "fault", "excused", "detail")


class Violation(msgspec.Struct):
    verdict: str
    detail: str
    client: str | None = None
    msg: str | None = None
    sub: str | None = None
    t: int | None = None
    fault: str | None = None
    excused: bool = False


class Findings(msgspec.Struct):
    """`counts` by (verdict, fault, excused) tells how many there were; `listed` holds the first of each sort.

    What there is to say besides is the `note`. A check that had nothing to judge says why, and weighs nothing.
    """

    listed: list[Violation]
    counts: dict[tuple[str, str | None, bool], int]
    note: str = ""
    judged: bool = True

    def add(self, violation: Violation) -> None:
        """One more, which is told first."""
        sort = (violation.verdict, violation.fault, violation.excused)
        self.counts[sort] = self.counts.get(sort, 0) + 1
        self.listed = [violation, *self.listed][:LISTED_MAX]

    @property
    def violations(self) -> int:
        return sum(count for (_, _, excused), count in self.counts.items() if not excused)

    @property
    def excused(self) -> int:
        return sum(count for (_, _, excused), count in self.counts.items() if excused)

    @property
    def verdict(self) -> str:
        return worst(verdict for (verdict, _, excused), count in self.counts.items() if count and not excused)


class Check(NamedTuple):
    """One property: its name, and how its violations are found."""

    name: str
    find: Callable[[Evidence], Findings]


def worst(verdicts: Iterable[str]) -> str:
    """Fail outweighs unknown outweighs pass."""
    heard = set(verdicts)
    return FAIL if FAIL in heard else UNKNOWN if UNKNOWN in heard else PASS


def told(violations: list[Violation]) -> Findings:
    counts = Counter((v.verdict, v.fault, v.excused) for v in violations)
    return Findings(violations[:LISTED_MAX], dict(counts))


def not_judged(why: str) -> Findings:
    return Findings([], {}, why, judged=False)


def together(*several: Findings) -> Findings:
    """What several ways of looking at one property found."""
    counts: Counter[tuple[str, str | None, bool]] = Counter()
    for found in several:
        counts.update(found.counts)
    listed = [violation for found in several for violation in found.listed]
    return Findings(listed[:LISTED_MAX], dict(counts), "; ".join(found.note for found in several if found.note))


def verdict_unless(untold: Column) -> Column:
    return F.when(untold, F.lit(UNKNOWN)).otherwise(F.lit(FAIL))


def collect(frame: DataFrame) -> Findings:
    """Runs a check's frame. Never brings more rows to the driver than can be listed; mostly there are none."""
    found = frame.select(*_COLUMNS)
    rows = found.limit(LISTED_MAX + 1).toArrow().to_pylist()
    if len(rows) > LISTED_MAX:
        counted = found.groupBy("verdict", "fault", "excused").count().toArrow().to_pylist()
        counts = {(row["verdict"], row["fault"], row["excused"]): row["count"] for row in counted}
        rows = found.orderBy("excused", "verdict", "t", "msg", "client").limit(LISTED_MAX).toArrow().to_pylist()
    else:
        counts = dict(Counter((row["verdict"], row["fault"], row["excused"]) for row in rows))
    rows.sort(key=lambda row: (row["excused"], row["verdict"], row["t"] or 0, row["msg"] or "", row["client"] or ""))
    return Findings([Violation(**row) for row in rows], counts)
