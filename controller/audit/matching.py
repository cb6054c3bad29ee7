"""Which content is matched by which filter: joins, no matcher of the brokers'.

A conjunction is reached by its rarest constraint, so that only pairs with a chance are looked at; the rest of it is
compared with the places of the content's values. XPath patterns are put to lxml, batch by batch.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from controller.audit import patterns, places
from controller.audit.frames import copied, kept

_SOLE, _BUCKET = 0, 1


def matches(filters: DataFrame, contents: DataFrame) -> DataFrame:
    """Pairs (k, f) of a filter (f, filter, lang, disjuncts, only) and a content (k, publisher, attributes, document).

    `only` restricts a filter to one publisher's contents, null means all; readable filters only. A content belongs to
    one publisher if there are such filters. A filter with `from_t` and `until_t`, where they are not null, is not
    wanted for contents with `last_t` before or `first_t` after.
    """
    by_constraints = _by_constraints(filters.where("lang = 'attr'"), contents.where("attributes is not null"))
    asked = [patterns.Asked(**row.asDict()) for row in _patterns(filters).collect()]
    if not asked:
        return by_constraints
    documents = contents.where("document is not null").select(*patterns.DOCUMENTS)
    found = documents.mapInArrow(patterns.matcher(asked), from_arrow_schema(patterns.MATCHES))
    return by_constraints.unionAll(found)


def _patterns(filters: DataFrame) -> DataFrame:
    return filters.where("lang = 'xpath'").select("f", F.col("filter").alias("text"), "only", "from_t", "until_t")


def _by_constraints(filters: DataFrame, contents: DataFrame) -> DataFrame:
    disjuncts = kept(
        filters.select("f", "only", "from_t", "until_t", F.explode("disjuncts").alias("constraints"))
        .withColumn("d", F.monotonically_increasing_id())
    )  # fmt: skip
    in_line = kept(places.placed(places.values(_attributes(contents)), _constraints(disjuncts)))
    reached = kept(_reached(places.stretches(in_line)).join(disjuncts.select("d", "f", "from_t", "until_t"), "d"))
    size = reached.agg(F.sum(F.size(_ways_in())).alias("ways"), F.count("*").alias("disjuncts")).collect()[0]
    alive = _with_places(in_line).join(contents.select("k", "first_t", "last_t"), "k")
    return (
        alive.select("k", "first_t", "last_t", "said", F.explode("said").alias("a"))
        .select("k", "first_t", "last_t", "said", "a.name", "a.place", F.explode(_keys_of_place()).alias("at"))
        .join(copied(_entrances(reached), size["ways"] or 0), ["name", "at"])
        .where(F.col("place").between(F.col("low"), F.col("high")))
        .where((F.col("from_t").isNull() | (F.col("last_t") >= F.col("from_t")))
               & (F.col("until_t").isNull() | (F.col("first_t") <= F.col("until_t"))))
        .select("k", "said", "d")
        .join(copied(reached.select("d", "f", "checks"), size["disjuncts"]), "d")
        .where(_all_hold())
        .select("k", "f")
        # Several disjuncts of a filter may match; a content and all it meets are in one partition, so nothing moves.
        .dropDuplicates(["k", "f"])
    )  # fmt: skip


def _attributes(contents: DataFrame) -> DataFrame:
    """All that contents say, and of every one who published it: so each has at least one, and `*` is a constraint."""
    said = contents.select("k", F.explode("attributes").alias("a")).select("k", "a.*")
    publisher = F.coalesce("publisher", F.lit(""))
    return said.unionAll(contents.select("k", *places.of_publisher(publisher)).select(said.columns))


def _constraints(disjuncts: DataFrame) -> DataFrame:
    said = disjuncts.select("d", F.explode("constraints").alias("c")).select("d", "c.*")
    only = disjuncts.where("only is not null").select("d", F.lit("=").alias("op"), *places.of_publisher(F.col("only")))
    all_ = disjuncts.where("only is null and size(constraints) = 0")
    anybody = all_.select("d", F.lit("exists").alias("op"), *places.of_publisher(F.lit("")))
    return said.unionAll(only.select(said.columns)).unionAll(anybody.select(said.columns))


def _reached(stretches: DataFrame) -> DataFrame:
    """By disjunct: the stretch with the fewest contents, and what is still to be checked of those."""
    stretch = F.struct("name", "low", "high", "stride", "looks")
    told = stretches.groupBy("d").agg(
        F.min("weight").alias("weight"), F.min_by(stretch, "weight").alias("entrance"),
        F.collect_list(stretch).alias("checks"),
    )  # fmt: skip
    pending = F.filter("checks", lambda c: (c["name"] != F.col("entrance.name")) | (F.size(c["looks"]) > 0))
    return told.where("weight > 0").select("d", "entrance", pending.alias("checks"))


def _with_places(in_line: DataFrame) -> DataFrame:
    at = F.struct("name", "place", "stride", "text", "double", "residue")
    return (
        in_line.select(F.explode("ks").alias("k"), at.alias("at")).groupBy("k").agg(F.collect_list("at").alias("said"))
    )


def _keys_of_place() -> Column:
    place, stride = F.col("a.place"), F.col("a.stride")
    return F.array(_key(_SOLE, place), _key(_BUCKET, F.floor(place / stride)))


def _entrances(reached: DataFrame) -> DataFrame:
    return reached.select("d", "from_t", "until_t", "entrance.name", "entrance.low", "entrance.high",
                          F.explode(_ways_in()).alias("at"))  # fmt: skip


def _ways_in() -> Column:
    """A short stretch is entered by each of its places, a long one by the buckets it touches."""
    low, high, stride = F.col("entrance.low"), F.col("entrance.high"), F.col("entrance.stride")
    soles = F.transform(F.sequence(low, high), lambda place: _key(_SOLE, place))
    buckets = F.transform(F.sequence(F.floor(low / stride), F.floor(high / stride)), lambda b: _key(_BUCKET, b))
    return F.when(high - low < stride, soles).otherwise(buckets)


def _key(level: int, number: Column) -> Column:
    return F.struct(F.lit(level).alias("level"), number.cast("long").alias("number"))


def _all_hold() -> Column:
    def held(check: Column) -> Column:
        def by(value: Column) -> Column:
            looked = F.forall(check["looks"], lambda look: places.holds(look, value))
            return (value["name"] == check["name"]) & value["place"].between(check["low"], check["high"]) & looked

        return F.exists("said", by)

    return F.forall("checks", held)
