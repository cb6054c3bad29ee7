"""Everything the checks look at: the facts of the run, and the frames that several of them need."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from controller.audit import oracle
from controller.audit.advertising import unadvertised
from controller.audit.facts import RunFacts
from controller.audit.inside import Inside
from controller.audit.load import events
from controller.audit.promise import Span, excusing, fell_into, spans

FLIGHT_NS_MIN = 2_000_000_000


@dataclass(frozen=True)
class Evidence:
    facts: RunFacts
    rows: DataFrame
    publications: DataFrame
    subscriptions: DataFrame
    unadvertised: DataFrame | None
    duties: DataFrame
    deliveries: DataFrame
    flight_ns: int
    pairs_required: int
    pairs_permitted: int

    @cached_property
    def inside(self) -> Inside:
        """What the brokers' logs tell."""
        return Inside(self.facts, self.rows, self.duties, self.subscriptions, self.flight_ns)

    def untold(self, node: Column) -> Column:
        """Does the driver's log leave open what happened to its clients?"""
        return node.isin(self.facts.damaged_nodes) if self.facts.damaged_nodes else F.lit(False)

    def excuse(self, published_t: Column) -> Column:
        """The fault that excuses the loss of what was published then, or null."""
        return self._met(excusing(self.facts.promise, self.facts.windows), published_t)

    def fault_of_loss(self, published_t: Column) -> Column:
        return F.coalesce(self.excuse(published_t), self._met(spans(self.facts.windows), published_t))

    def fault_at(self, t: Column) -> Column:
        return fell_into(spans(self.facts.windows), t, t)

    def _met(self, candidates: list[Span], published_t: Column) -> Column:
        return fell_into(candidates, published_t, published_t + self.flight_ns)


def build(facts: RunFacts, rows: DataFrame) -> Evidence:
    published = oracle.publications(rows)
    subscribed = oracle.subscriptions(rows).transform(oracle.kept)
    matched = oracle.matches(_filters(rows, subscribed), published).transform(oracle.kept)
    paired = oracle.pairs(matched, subscribed, published)
    outside = None
    if any(file.counts.get("advertise") for file in facts.files):
        outside = unadvertised(rows, matched, published).transform(oracle.kept)
        paired = _never_promised(paired, outside)
    owed = oracle.duties(paired).transform(oracle.kept)
    delivered = oracle.deliveries(rows, published, owed).transform(oracle.kept)
    flight_ns = max(FLIGHT_NS_MIN, _longest_delay_ns(delivered))
    pairs_required, pairs_permitted = _count_pairs(owed, flight_ns)
    return Evidence(facts, rows, published, subscribed, outside, owed, delivered, flight_ns, pairs_required,
                    pairs_permitted)  # fmt: skip


def _never_promised(paired: DataFrame, outside: DataFrame) -> DataFrame:
    marked = outside.select("msg", F.lit(True).alias("outside"))
    return (
        paired.join(marked, "msg", "left")
        .withColumn("promised", F.col("promised") & F.col("outside").isNull())
        .drop("outside")
    )


def _filters(rows: DataFrame, subscribed: DataFrame) -> DataFrame:
    """The distinct filters: of subscriptions for everybody's publications, of advertisements for the owner's."""
    asked = subscribed.select("filter", "disjuncts", "unreadable", F.lit(None).cast("string").alias("only"))
    offered = events(rows, "advertise").select("filter", "disjuncts", "unreadable", F.col("client").alias("only"))
    readable = asked.unionAll(offered).where("unreadable is null")
    return readable.groupBy("filter", "only").agg(F.first("disjuncts").alias("disjuncts"))


def _longest_delay_ns(delivered: DataFrame) -> int:
    delay = F.col("delivered.t") - F.col("published.t")
    longest = delivered.where("rightful and copy = 1").agg(F.max(delay).alias("longest")).first()
    return longest["longest"] or 0 if longest is not None else 0


def _count_pairs(owed: DataFrame, flight_ns: int) -> tuple[int, int]:
    pair = owed.select("published", F.explode("pairs").alias("pair"))
    is_required = oracle.required(F.col("pair"), F.col("published.t"), flight_ns)
    counted = pair.agg(
        F.count_if(is_required).alias("required"),
        F.count_if(~is_required & ~F.col("pair.forbidden")).alias("permitted"),
    ).first()
    return (counted["required"], counted["permitted"]) if counted is not None else (0, 0)
