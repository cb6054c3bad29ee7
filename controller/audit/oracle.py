"""What every publication means to every subscription: required, forbidden or permitted, by the order of events."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from controller.audit.frames import kept
from controller.audit.load import events


def position() -> Column:
    return F.struct("t", "n", "file")


def before(x: Column, y: Column) -> Column:
    """The contract's order: by line within a file, by time across files. Null if either did not happen."""
    return F.when(x["file"] == y["file"], x["n"] < y["n"]).otherwise(x["t"] < y["t"])


def publications(rows: DataFrame, by_publisher: bool = False) -> DataFrame:
    """One row per published message; an id that was used twice is counted once (`integrity` finds it).

    `m` numbers them, `k` is the number of the first with the same content (and publisher, if that is asked for): what
    is said twice is judged once. From `first_t` to `last_t` it was said.
    """
    document = F.when(F.col("lang") == "xpath", F.col("content")).alias("document")
    said = F.struct(F.col("client").alias("publisher"), "seq", "lang", "intended_t", "content", "attributes", document,
                    position().alias("published"))  # fmt: skip
    first = (
        events(rows, "publish")
        .groupBy("msg")
        .agg(F.min_by(said, position()).alias("first"))
        .select("msg", "first.*", F.monotonically_increasing_id().alias("m"))
    )
    alike = Window.partitionBy("lang", "content", *(["publisher"] if by_publisher else []))
    return (
        first.withColumn("k", F.min("m").over(alike))
        .withColumn("first_t", F.min("published.t").over(alike))
        .withColumn("last_t", F.max("published.t").over(alike))
        .drop("content")
        .repartition("msg")
        .transform(kept)
    )


def contents(published: DataFrame, by_publisher: bool = False) -> DataFrame:
    """The distinct ones, by `k`."""
    publisher = F.col("publisher") if by_publisher else F.lit(None).cast("string")
    return published.where("k = m").select(
        "k", publisher.alias("publisher"), "attributes", "document", "first_t", "last_t"
    )


def longest_way_ns(rows: DataFrame, published: DataFrame) -> int:
    """How long after its publication anybody had to do with a message."""
    when = published.select("msg", F.col("published.t").alias("published_t"))
    seen = events(rows, "handle", "forward", "deliver").where("msg is not null").select("msg", "t")
    (longest,) = seen.join(when, "msg").agg(F.max(F.col("t") - F.col("published_t")).alias("ns")).collect()
    return max(0, longest["ns"] or 0)


def filters(rows: DataFrame) -> DataFrame:
    """The distinct ones, by `f`: of subscriptions for everybody's publications, of advertisements for the owner's."""
    everybody = F.lit(None).cast("string").alias("only")
    asked = events(rows, "subscribe", "established", "unsubscribe", "unsubscribed").select("filter", "lang", everybody)
    offered = events(rows, "advertise").select("filter", "lang", F.col("client").alias("only"))
    read = events(rows, "filter").groupBy("filter", "lang").agg(
        F.first("disjuncts").alias("disjuncts"), F.first("unreadable").alias("unreadable")
    )  # fmt: skip
    wanted = asked.unionAll(offered).distinct()
    return kept(wanted.join(read, ["filter", "lang"]).withColumn("f", F.monotonically_increasing_id()))


def subscriptions(rows: DataFrame, known: DataFrame) -> DataFrame:
    """One row per subscription: who, what (known filters), and when it was asked for, confirmed and cancelled."""
    life = events(rows, "subscribe", "established", "unsubscribe", "unsubscribed")

    def first(event: str) -> Column:
        return F.min(F.when(F.col("event") == event, position())).alias(event)

    told = life.groupBy("sub").agg(
        F.min_by(F.struct("client", "broker", "node", "lang", "filter"), position()).alias("who"),
        F.min_by("since", F.when(F.col("event") == "established", position())).alias("since"),
        *[first(event) for event in ("subscribe", "established", "unsubscribe", "unsubscribed")],
    )
    refused = events(rows, "refuse").select(F.col("what").alias("sub"), F.lit(True).alias("refused")).distinct()
    return (
        told.select("sub", "who.*", "since", "subscribe", "established", "unsubscribe", "unsubscribed")
        .join(_departures(rows), ["client", "broker"], "left")
        .withColumn("detach", _first_departure())
        .drop("departures")
        .join(refused, "sub", "left")
        .withColumn("refused", F.coalesce("refused", F.lit(False)))
        .withColumn("cancel_t", F.least(F.col("unsubscribe.t"), F.col("detach.t")))
        .join(known.where("only is null").drop("only"), ["filter", "lang"], "left")
    )


def _departures(rows: DataFrame) -> DataFrame:
    return events(rows, "detach").groupBy("client", "broker").agg(F.collect_list(position()).alias("departures"))


def _first_departure() -> Column:
    asked = F.coalesce("subscribe", "established")
    return F.array_min(F.filter("departures", lambda detach: before(asked, detach)))


def lived(known: DataFrame, subscribed: DataFrame, way_ns: int) -> DataFrame:
    """Filters with the time in which anybody could ask anything of a publication for their sake.

    What was over before somebody subscribed, and what was published after all had their cancellation confirmed, means
    nothing to them; where `since` promises something, times decide nothing.
    """
    is_open = F.col("subscribe").isNull() | F.col("since").isNotNull()
    lives = subscribed.groupBy("f").agg(
        F.when(~F.bool_or(is_open), F.min("subscribe.t") - way_ns).alias("from_t"),
        F.when(~F.bool_or(F.col("unsubscribed").isNull()), F.max("unsubscribed.t")).alias("until_t"),
    )
    return known.join(lives, "f", "left")


def ever(known: DataFrame) -> DataFrame:
    never = F.lit(None).cast("long")
    return known.withColumn("from_t", never).withColumn("until_t", never)


def pairs(matched: DataFrame, subscribed: DataFrame, published: DataFrame) -> DataFrame:
    """Every pair (msg, sub) that matches, with what the times say about it.

    `promised`: owed unless cancelled within `flight`; `forbidden`: published after the cancellation was confirmed.
    """
    messages = published.select("k", "msg", "publisher", "seq", "published")
    told = matched.join(messages, "k").repartition("msg").join(subscribed.where("unreadable is null"), "f")
    since = F.try_element_at("since", F.col("publisher"))
    in_time = F.when(since.isNotNull(), F.col("seq") >= since).otherwise(
        before(F.col("established"), F.col("published"))
    )
    return told.select(
        "msg", "publisher", "seq", "published", "client", "broker", "sub", "node", "cancel_t", "subscribe",
        "unsubscribed",
        (F.col("established").isNotNull() & ~F.col("refused") & F.coalesce(in_time, F.lit(False))).alias("promised"),
        F.coalesce(before(F.col("unsubscribed"), F.col("published")), F.lit(False)).alias("forbidden"),
    )  # fmt: skip


def matter(way_ns: int) -> Column:
    """Could the pair still mean anything, or was the message over before anybody asked, or the subscription before?"""
    in_time = F.col("published.t") >= F.col("subscribe.t") - way_ns
    return ~F.col("forbidden") & (F.col("promised") | F.col("subscribe").isNull() | in_time)


def required(pair: Column, published_t: Column, flight_ns: int) -> Column:
    return pair["promised"] & (pair["cancel_t"].isNull() | (pair["cancel_t"] - published_t > flight_ns))


def allowed(pair: Column, delivered: Column) -> Column:
    """Neither forbidden by when it was published nor by when it was delivered."""
    too_early = F.coalesce(before(delivered, pair["subscribe"]), F.lit(False))
    return ~(too_early | cancelled(pair, delivered))


def cancelled(pair: Column, delivered: Column) -> Column:
    """Its cancellation was confirmed before it was published, or before it was delivered."""
    return pair["forbidden"] | F.coalesce(before(pair["unsubscribed"], delivered), F.lit(False))


PAIR = ("sub", "broker", "promised", "forbidden", "cancel_t", "subscribe", "unsubscribed")


def duties(paired: DataFrame) -> DataFrame:
    """What is owed, or allowed, to a client for a message: one row per (client, msg), its pairs in an array."""
    return paired.groupBy("client", "msg").agg(
        F.first("publisher").alias("publisher"),
        F.first("seq").alias("seq"),
        F.first("published").alias("published"),
        F.first("node").alias("node"),
        F.sort_array(F.collect_list(F.struct(*PAIR))).alias("pairs"),
    )


def deliveries(rows: DataFrame, published: DataFrame, owed: DataFrame) -> DataFrame:
    """Every delivery with its publication (null if there is none), the subscriptions that allow it, and which copy."""
    delivered = events(rows, "deliver").select(
        "client", "broker", "msg", F.col("publisher").alias("said_publisher"), F.col("seq").alias("said_seq"), "subs",
        "node", "line", position().alias("delivered"),
    )  # fmt: skip
    known = published.select("msg", "publisher", "seq", "published", "intended_t")
    copies = Window.partitionBy("client", "msg").orderBy("delivered", "line")
    return (
        delivered.repartition("msg")
        .withColumn("copy", F.row_number().over(copies))
        .join(known, "msg", "left")
        .join(owed.select("client", "msg", "pairs"), ["client", "msg"], "left")
        .withColumn("pairs", F.coalesce("pairs", F.array().cast(owed.schema["pairs"].dataType)))
        .withColumn("genuine", F.coalesce((F.col("said_publisher") == F.col("publisher"))
                                          & (F.col("said_seq") == F.col("seq")), F.lit(False)))
        .withColumn("allowed", F.filter("pairs", lambda pair: allowed(pair, F.col("delivered"))))
        .withColumn("rightful", F.col("genuine") & (F.size("allowed") > 0))
    )  # fmt: skip


def with_forbidden(delivered: DataFrame, forbidden: DataFrame) -> DataFrame:
    """Deliveries beside the pairs that forbid them, for those who want to know why."""
    over = forbidden.groupBy("client", "msg").agg(F.sort_array(F.collect_list(F.struct(*PAIR))).alias("over"))
    pairs_and_over = F.concat("pairs", F.coalesce("over", F.array().cast(delivered.schema["pairs"].dataType)))
    return delivered.join(over, ["client", "msg"], "left").withColumn("pairs", pairs_and_over).drop("over")
