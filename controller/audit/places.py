"""Values and constraints in one line: each value of an attribute has a place, a constraint is a stretch from … to ….

So equality, order and prefix are all looked up the same way, and how many contents satisfy a constraint is a difference
of two counts, known before anything is joined. What no order tells (`!=`, `suffix`, `contains`) covers the stretch of
its kind, and is looked at.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from controller.audit.values import STRING

LOOKED_AT = ("!=", "suffix", "contains")
_VALUE = ("kind", "text", "double", "residue")
# Before all values of the kind, among them, after them; and before or after what is equal to the bound.
_START, _WITHIN, _END = -1, 0, 1
_BEFORE, _EQUAL, _AFTER = 0, 1, 2
_FIRST_KIND, _LAST_KIND = "", "~"
_LOW, _HIGH = "low", "high"
# No text of UTF-8 has this byte, so it comes after everything that begins with what it is appended to.
_BEYOND = b"\xff"


def values(attributes: DataFrame) -> DataFrame:
    """Distinct values with the contents `ks` that have them, from rows (k, name, kind, text, double, residue)."""
    return attributes.groupBy("name", *_VALUE).agg(F.collect_list("k").alias("ks"))


def placed(known: DataFrame, constraints: DataFrame) -> DataFrame:
    """Values and the bounds of constraints (rows d, name, op and value) in line; every bound knows what is before it.

    `place` counts the distinct values up to here, `weight` the contents that have one of them; `stride` is a width of
    buckets that makes about as many buckets as values in one.
    """
    of_values = known.select(
        "name", *_VALUE, F.encode("text", "utf-8").alias("sorted"), F.lit(_WITHIN).alias("edge"),
        F.lit(_EQUAL).alias("side"), "ks", F.lit(None).cast("long").alias("d"), F.lit(None).cast("string").alias("op"),
        F.lit(None).cast("string").alias("role"),
    )  # fmt: skip
    bound = constraints.select("d", "name", "op", *_VALUE, F.explode(_bounds()).alias("bound"))
    of_bounds = bound.select(
        "name", F.col("bound.kind").alias("kind"), "text", "double", "residue", "bound.sorted", "bound.edge",
        "bound.side", F.lit(None).cast("array<long>").alias("ks"), "d", "op", "bound.role",
    )  # fmt: skip
    by_name = Window.partitionBy("name")
    so_far = by_name.orderBy("kind", "edge", "sorted", "double", "residue", "side").rowsBetween(
        Window.unboundedPreceding, Window.currentRow
    )
    is_value = F.col("ks").isNotNull()
    return (
        of_values.unionAll(of_bounds)
        .withColumn("place", F.count_if(is_value).over(so_far))
        .withColumn("weight", F.sum(F.when(is_value, F.size("ks")).otherwise(0)).over(so_far))
        .withColumn("stride", F.ceil(F.sqrt(F.count_if(is_value).over(by_name))))
        .drop("sorted", "edge", "side")
    )


def stretches(in_line: DataFrame) -> DataFrame:
    """What a disjunct says about one attribute: from `low` to `high`, `weight` contents; none of them if low > high."""
    is_low, is_high = F.col("role") == _LOW, F.col("role") == _HIGH
    look = F.struct("op", "text", "double", "residue")
    return (
        in_line.where("d is not null")
        .groupBy("d", "name")
        .agg(
            (F.max(F.when(is_low, F.col("place"))) + 1).alias("low"),
            F.min(F.when(is_high, F.col("place"))).alias("high"),
            (F.min(F.when(is_high, F.col("weight"))) - F.max(F.when(is_low, F.col("weight")))).alias("weight"),
            F.collect_list(F.when(is_low & F.col("op").isin(*LOOKED_AT), look)).alias("looks"),
            F.max("stride").alias("stride"),
        )
    )


def _bounds() -> Column:
    op = F.col("op")
    start = _bound(_LOW, F.col("kind"), _START)
    end = _bound(_HIGH, F.col("kind"), _END)
    low = (
        F.when(op == "exists", _bound(_LOW, F.lit(_FIRST_KIND), _START))
        .when(op.isin("=", ">=", "prefix"), _at(_LOW, _BEFORE))
        .when(op == ">", _at(_LOW, _AFTER))
        .otherwise(start)
    )
    high = (
        F.when(op == "exists", _bound(_HIGH, F.lit(_LAST_KIND), _END))
        .when(op.isin("=", "<="), _at(_HIGH, _AFTER))
        .when(op == "<", _at(_HIGH, _BEFORE))
        .when(op == "prefix", _at(_HIGH, _BEFORE, F.concat(F.encode("text", "utf-8"), F.lit(_BEYOND))))
        .otherwise(end)
    )
    return F.array(low, high)


def _at(role: str, side: int, sorted_: Column | None = None) -> Column:
    return _bound(role, F.col("kind"), _WITHIN, side, F.encode("text", "utf-8") if sorted_ is None else sorted_)


def _bound(role: str, kind: Column, edge: int, side: int = _EQUAL, sorted_: Column | None = None) -> Column:
    no_text = F.lit(b"")
    return F.struct(
        F.lit(role).alias("role"), kind.alias("kind"), F.lit(edge).alias("edge"), F.lit(side).alias("side"),
        (no_text if sorted_ is None else sorted_).alias("sorted"),
    )  # fmt: skip


def holds(look: Column, value: Column) -> Column:
    """Does the value satisfy what has to be looked at? Its kind is right, its place says so."""
    op, text, wanted = look["op"], value["text"], look["text"]
    same = (text == wanted) & (value["double"] == look["double"]) & (value["residue"] == look["residue"])
    return (
        F.when(op == "!=", ~same)
        .when(op == "suffix", F.endswith(text, wanted))
        .when(op == "contains", F.contains(text, wanted))
    )


def of_publisher(publisher: Column) -> list[Column]:
    """Who published a content, as one more attribute of it; no attribute in a log has an empty name."""
    return [F.lit("").alias("name"), F.lit(STRING).alias("kind"), publisher.alias("text"),
            F.lit(0.0).alias("double"), F.lit(0).cast("long").alias("residue")]  # fmt: skip
