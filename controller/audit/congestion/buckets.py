"""Time in equal parts: about so many for a run, none shorter than a tenth of a second."""

from __future__ import annotations

from typing import NamedTuple

from pyspark.sql import Column
from pyspark.sql import functions as F

BUCKETS = 120
FINE_BUCKETS = 1200
WIDTH_NS_MIN = 100_000_000


class Buckets(NamedTuple):
    start_t: int
    width_ns: int

    @classmethod
    def over(cls, span: tuple[int, int], number: int) -> Buckets:
        start_t, end_t = span
        return cls(start_t, max(WIDTH_NS_MIN, -(-(end_t - start_t) // number)))

    def of(self, t: Column) -> Column:
        """When the bucket of that time begins."""
        return F.lit(self.start_t) + F.floor((t - self.start_t) / self.width_ns).cast("long") * self.width_ns
