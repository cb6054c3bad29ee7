"""Everything the checks look at: the facts of the run, and the frames that several of them need."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from controller.audit import oracle
from controller.audit.advertising import unadvertised
from controller.audit.facts import RunFacts
from controller.audit.frames import copied, kept
from controller.audit.inside import Inside
from controller.audit.matching import matches
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
    advertises = any(file.counts.get("advertise") for file in facts.files)
    published = oracle.publications(rows, advertises)
    known = oracle.filters(rows)
    subscribed = oracle.subscriptions(rows, known).transform(kept)
    way_ns = oracle.longest_way_ns(rows, copied(published, facts.lines("publish")))
    contents = oracle.contents(published, advertises)
    readable = known.where("unreadable is null")
    matched = matches(oracle.lived(readable, subscribed, way_ns), contents).transform(kept)
    asked = copied(subscribed, facts.lines("subscribe"))
    paired = oracle.pairs(matched, asked, published).where(oracle.matter(way_ns))
    outside = None
    if advertises:
        outside = unadvertised(rows, matched.join(known, "f"), published).transform(kept)
        paired = _never_promised(paired, outside)
    owed = oracle.duties(paired).transform(kept)
    delivered = oracle.deliveries(rows, published, owed).transform(kept)
    longest_ns, suspects = _looked_over(delivered)
    if suspects:
        delivered = _explained(delivered, known, subscribed, published, contents).transform(kept)
    flight_ns = max(FLIGHT_NS_MIN, longest_ns)
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


def _looked_over(delivered: DataFrame) -> tuple[int, int]:
    """The longest delay of a rightful delivery, and how many have no right though they were published."""
    delay = F.col("delivered.t") - F.col("published.t")
    (row,) = delivered.agg(
        F.max(F.when(F.col("rightful") & (F.col("copy") == 1), delay)), F.count_if(_is_suspect())
    ).collect()
    return row[0] or 0, row[1]


def _is_suspect() -> Column:
    return F.col("genuine") & ~F.col("rightful")


def _explained(
    delivered: DataFrame, known: DataFrame, subscribed: DataFrame, published: DataFrame, contents: DataFrame
) -> DataFrame:
    """What has no right may have had one before: the subscriptions that were over by then are looked up for these."""
    suspects = delivered.where(_is_suspect()).select("client", "msg").distinct().transform(kept)
    said = published.join(suspects, "msg", "left_semi")
    asked = subscribed.join(suspects, "client", "left_semi")
    matched = matches(
        oracle.ever(known.where("unreadable is null")).join(asked, "f", "left_semi"),
        contents.join(said, "k", "left_semi"),
    )
    over = oracle.pairs(matched, asked, said).where("forbidden").join(suspects, ["client", "msg"], "left_semi")
    return oracle.with_forbidden(delivered, over)


def _count_pairs(owed: DataFrame, flight_ns: int) -> tuple[int, int]:
    pair = owed.select("published", F.explode("pairs").alias("pair"))
    is_required = oracle.required(F.col("pair"), F.col("published.t"), flight_ns)
    counted = pair.agg(
        F.count_if(is_required).alias("required"),
        F.count_if(~is_required & ~F.col("pair.forbidden")).alias("permitted"),
    ).first()
    return (counted["required"], counted["permitted"]) if counted is not None else (0, 0)
