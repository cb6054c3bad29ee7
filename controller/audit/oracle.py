"""Which publication matches which filter, and what follows for every subscription: joins, no matcher of the brokers'.

A constraint is a row, an attribute of a publication is a row; a conjunction holds if as many of its constraints as it
has found an attribute that satisfies them. XPath patterns are put to lxml, batch by batch.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from controller.audit import patterns
from controller.audit.load import events
from controller.audit.values import NUMBER

_VALUE = ("kind", "text", "double", "residue")


def kept(frame: DataFrame) -> DataFrame:
    """Worked out once, with the way it was worked out forgotten: what builds on a long plan is planned for long."""
    return frame.localCheckpoint()


def position() -> Column:
    return F.struct("t", "n", "file")


def before(x: Column, y: Column) -> Column:
    """The contract's order: by line within a file, by time across files. Null if either did not happen."""
    return F.when(x["file"] == y["file"], x["n"] < y["n"]).otherwise(x["t"] < y["t"])


def publications(rows: DataFrame) -> DataFrame:
    """One row per published message, numbered; an id that was used twice is counted once (`integrity` finds it)."""
    document = F.when(F.col("lang") == "xpath", F.col("content")).alias("document")
    said = F.struct(F.col("client").alias("publisher"), "seq", "lang", "intended_t", "attributes", document,
                    position().alias("published"))  # fmt: skip
    return kept(
        events(rows, "publish")
        .groupBy("msg")
        .agg(F.min_by(said, position()).alias("first"))
        .select("msg", "first.*", F.monotonically_increasing_id().alias("m"))
    )


def subscriptions(rows: DataFrame) -> DataFrame:
    """One row per subscription: who, what, and when it was asked for, confirmed and cancelled."""
    life = events(rows, "subscribe", "established", "unsubscribe", "unsubscribed")

    def first(event: str) -> Column:
        return F.min(F.when(F.col("event") == event, position())).alias(event)

    told = life.groupBy("sub").agg(
        F.min_by(F.struct("client", "broker", "node", "lang", "filter", "disjuncts", "unreadable"), position()).alias(
            "who"
        ),
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
    )


def _departures(rows: DataFrame) -> DataFrame:
    return events(rows, "detach").groupBy("client", "broker").agg(F.collect_list(position()).alias("departures"))


def _first_departure() -> Column:
    asked = F.coalesce("subscribe", "established")
    return F.array_min(F.filter("departures", lambda detach: before(asked, detach)))


def matches(filters: DataFrame, published: DataFrame) -> DataFrame:
    """Pairs (msg, filter) of a filter (columns `filter`, `disjuncts`, `only`) and a publication it is true for.

    `only` restricts a filter to one publisher; null means all. A filter without disjuncts is an XPath pattern.
    """
    by_constraints = _matches_by_constraints(filters.where("disjuncts is not null"), published)
    pattern_filters = filters.where("disjuncts is null").select("filter", "only")
    texts = [row["filter"] for row in pattern_filters.select("filter").distinct().collect()]
    return (
        by_constraints.unionAll(_matches_by_patterns(sorted(texts), pattern_filters, published))
        if texts
        else by_constraints
    )


def _matches_by_patterns(texts: list[str], filters: DataFrame, published: DataFrame) -> DataFrame:
    documents = published.where("document is not null")
    schema = from_arrow_schema(patterns.MATCHES)
    return (
        documents.select("m", "document")
        .mapInArrow(patterns.matcher(texts), schema)
        .join(documents.select("m", "msg", "publisher"), "m")
        .join(filters, "filter")
        .where(_addressed())
        .select("msg", "filter", "only")
        .distinct()
    )


def _matches_by_constraints(filters: DataFrame, published: DataFrame) -> DataFrame:
    """What is counted is counted by numbers, not by texts."""
    disjuncts = _disjuncts(filters)
    contents = published.select("m", "publisher", F.explode("attributes").alias("a")).select("m", "publisher", "a.*")
    everything = disjuncts.where("size = 0").select("d", "only").join(
        published.where("attributes is not null").select("m", "publisher"), _addressed()
    )  # fmt: skip
    true = _conjunctions(disjuncts, contents).select("m", "d").unionAll(everything.select("m", "d"))
    return (
        true.join(disjuncts.select("d", "filter", "only"), "d")
        .join(published.select("m", "msg"), "m")
        .select("msg", "filter", "only")
        .distinct()
    )


def _disjuncts(filters: DataFrame) -> DataFrame:
    return kept(
        filters.select("filter", "only", F.explode("disjuncts").alias("constraints")).select(
            "*", F.size("constraints").alias("size"), F.monotonically_increasing_id().alias("d")
        )
    )


def _conjunctions(disjuncts: DataFrame, contents: DataFrame) -> DataFrame:
    """(m, d): as many constraints of the disjunct are satisfied as it has."""
    constraints = disjuncts.select("d", "only", "size", F.explode("constraints").alias("c")).select(
        "d", "only", "size", "c.*"
    )
    ordered = (F.col("kind") == NUMBER) & F.col("op").isin("<", "<=", ">", ">=")
    equal = constraints.where("op = '='").join(contents, ["name", *_VALUE]).where(_addressed())
    within = _ranges(constraints.where(ordered)).join(contents.where(F.col("kind") == NUMBER), "name")
    within = within.where(_in_range() & _addressed())
    a, c = contents.alias("a"), constraints.where(~ordered & (F.col("op") != "=")).alias("c")
    other = c.join(a, (F.col("a.name") == F.col("c.name")) & _satisfies()).where(_addressed())
    one = F.lit(1).cast("long").alias("constraints")
    satisfied = (
        within.select("m", "d", "size", "constraints")
        .unionAll(equal.select("m", "d", "size", one))
        .unionAll(other.select("m", "d", "size", one))
    )
    return satisfied.groupBy("m", "d", "size").agg(F.sum("constraints").alias("held")).where("held = size")


def _ranges(ordered: DataFrame) -> DataFrame:
    """What a disjunct says about the size of a number, in one row: two constraints are met far more rarely than one."""
    above, below = F.col("op").isin(">", ">="), F.col("op").isin("<", "<=")
    return ordered.groupBy("d", "only", "size", "name").agg(
        F.max(F.when(above, F.struct("double", "residue", (F.col("op") == ">").alias("open")))).alias("low"),
        F.min(F.when(below, F.struct("double", "residue", (F.col("op") == "<=").alias("closed")))).alias("high"),
        F.count("*").alias("constraints"),
    )


def _in_range() -> Column:
    double, residue, low, high = F.col("double"), F.col("residue"), F.col("low"), F.col("high")
    over = (residue > low["residue"]) | ((residue == low["residue"]) & ~low["open"])
    under = (residue < high["residue"]) | ((residue == high["residue"]) & high["closed"])
    high_enough = (double > low["double"]) | ((double == low["double"]) & over)
    low_enough = (double < high["double"]) | ((double == high["double"]) & under)
    return (low.isNull() | high_enough) & (high.isNull() | low_enough)


def _addressed() -> Column:
    return F.col("only").isNull() | (F.col("only") == F.col("publisher"))


def _satisfies() -> Column:
    """Everything but equality and the order of numbers."""
    op, text, wanted = F.col("c.op"), F.col("a.text"), F.col("c.text")
    same = (text == wanted) & (F.col("a.double") == F.col("c.double")) & (F.col("a.residue") == F.col("c.residue"))
    true_if = (
        F.when(op == "!=", ~same)
        .when(op == "<", text < wanted)
        .when(op == "<=", text <= wanted)
        .when(op == ">", text > wanted)
        .when(op == ">=", text >= wanted)
        .when(op == "prefix", F.startswith(text, wanted))
        .when(op == "suffix", F.endswith(text, wanted))
        .when(op == "contains", F.contains(text, wanted))
    )
    return (op == "exists") | ((F.col("a.kind") == F.col("c.kind")) & true_if)


def pairs(matched: DataFrame, subscribed: DataFrame, published: DataFrame) -> DataFrame:
    """Every pair (msg, sub) that matches, with what the times say about it.

    `promised`: owed unless cancelled within `flight`; `forbidden`: published after the cancellation was confirmed.
    """
    told = matched.where("only is null").drop("only").join(subscribed.where("unreadable is null"), "filter").join(
        published.select("msg", "publisher", "seq", "published"), "msg"
    )  # fmt: skip
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


def required(pair: Column, published_t: Column, flight_ns: int) -> Column:
    return pair["promised"] & (pair["cancel_t"].isNull() | (pair["cancel_t"] - published_t > flight_ns))


def allowed(pair: Column, delivered: Column) -> Column:
    """Neither forbidden by when it was published nor by when it was delivered."""
    too_early = F.coalesce(before(delivered, pair["subscribe"]), F.lit(False))
    return ~(too_early | cancelled(pair, delivered))


def cancelled(pair: Column, delivered: Column) -> Column:
    """Its cancellation was confirmed before it was published, or before it was delivered."""
    return pair["forbidden"] | F.coalesce(before(pair["unsubscribed"], delivered), F.lit(False))


def duties(paired: DataFrame) -> DataFrame:
    """What is owed, or allowed, to a client for a message: one row per (client, msg), its pairs in an array."""
    pair = F.struct("sub", "broker", "promised", "forbidden", "cancel_t", "subscribe", "unsubscribed")
    return paired.groupBy("client", "msg").agg(
        F.first("publisher").alias("publisher"),
        F.first("seq").alias("seq"),
        F.first("published").alias("published"),
        F.first("node").alias("node"),
        F.sort_array(F.collect_list(pair)).alias("pairs"),
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
        delivered.withColumn("copy", F.row_number().over(copies))
        .join(known, "msg", "left")
        .join(owed.select("client", "msg", "pairs"), ["client", "msg"], "left")
        .withColumn("pairs", F.coalesce("pairs", F.array().cast(owed.schema["pairs"].dataType)))
        .withColumn("genuine", F.coalesce((F.col("said_publisher") == F.col("publisher"))
                                          & (F.col("said_seq") == F.col("seq")), F.lit(False)))
        .withColumn("allowed", F.filter("pairs", lambda pair: allowed(pair, F.col("delivered"))))
        .withColumn("rightful", F.col("genuine") & (F.size("allowed") > 0))
    )  # fmt: skip
