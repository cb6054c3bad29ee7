"""Each control message traced back to what set it off: a client's request, a fault or its healing, a broker's start."""

from __future__ import annotations

from functools import cached_property

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from controller.audit.congestion import tracing
from controller.audit.evidence import Evidence
from controller.audit.frames import kept
from controller.audit.promise import DEATHS, Span, Window, fell_into, spans

CAUSES_MAX = 20_000
CAUSES_BY_BROKER_MAX = 100
_REQUESTS = ("subscribe", "unsubscribe", "advertise", "unadvertise")

TRIGGERED = pa.schema([
    ("cause", pa.string()), ("fault", pa.string()), ("node", pa.string()), ("t", pa.int64()),
    ("messages", pa.int64()), ("entries", pa.int64()), ("bytes", pa.int64()), ("brokers", pa.int64()),
    ("hops", pa.int64()), ("last_t", pa.int64()), ("settle_ns", pa.int64()),
])  # fmt: skip
BY_BROKER = pa.schema([("cause", pa.string()), ("node", pa.string()), ("messages", pa.int64())])


class Triggered:
    """Worked out once, and only if the brokers told of control messages."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self._facts = evidence.facts

    @property
    def is_told(self) -> bool:
        inside = self._evidence.inside
        return not inside.silence_on_control and any(file.counts.get("handle") for file in self._facts.files)

    @cached_property
    def _control(self) -> DataFrame:
        files = [file.file for file in self._facts.files]
        return tracing.control(self._evidence.rows, files).transform(kept)

    @cached_property
    def _roots(self) -> DataFrame:
        parents = tracing.parents(self._control, self._facts.brokers).transform(kept)
        return tracing.roots(parents, kept)

    @cached_property
    def _began(self) -> DataFrame:
        """(root, cause, fault, began_node, began_t) of whatever set something off."""
        first_request_t = F.min(F.when(self._is_request(), F.col("t")))
        started_t = self._control.agg(first_request_t.alias("t")).toArrow().to_pylist()[0]["t"]
        t = F.col("t")
        named = sorted(_named(self._facts.windows), key=lambda one: (one.order, -one.span.start_t))
        label = fell_into([Span(one.label, one.span.start_t, one.span.end_t) for one in named], t, t)
        fault = fell_into([one.span for one in named], t, t)
        at_start = t <= started_t if started_t is not None else F.lit(True)
        otherwise = (
            F.when(at_start, F.lit("the start of the brokers"))
            .when(F.col("event") == "handle", F.concat("kind", F.lit(" of "), "peer"))
            .otherwise(F.concat(F.lit("a timer or link of "), "node"))
        )
        is_request = self._is_request()
        # A client that comes says what it holds whatever is broken elsewhere; its own broker's fault may bring it back.
        is_of_client = (F.col("event") == "handle") & ~F.col("peer").isin(self._facts.brokers)
        is_hit = F.col("node").isin(_hit_brokers(self._facts.windows)) if self._facts.windows else F.lit(False)
        label, fault = (F.when(~is_of_client | is_hit, told) for told in (label, fault))
        return self._control.where("event != 'link'").select(
            F.col("id").alias("root"),
            F.when(is_request, F.concat("kind", F.lit(" "), "about")).otherwise(F.coalesce(label, otherwise))
            .alias("cause"),
            F.when(~is_request, fault).alias("fault"),
            F.col("node").alias("began_node"), t.alias("began_t"),
        )  # fmt: skip

    def _is_request(self) -> Column:
        from_client = (F.col("event") == "handle") & ~F.col("peer").isin(self._facts.brokers)
        return from_client & F.col("kind").isin(*_REQUESTS) & (F.col("about") != "")

    @cached_property
    def caused(self) -> DataFrame:
        """Every control message that was sent or handled, with its cause: (id, event, node, t, ..., cause, hops)."""
        told = self._control.where("event != 'link'").withColumn(
            "at", F.when(F.col("event") == "forward", F.col("cause")).otherwise(F.col("id"))
        )
        of_handle = self._roots.withColumnRenamed("id", "at")
        is_sent = F.when(F.col("event") == "forward", 1).otherwise(0)
        return (
            told.drop("cause")
            .join(of_handle, "at", "left")
            .withColumn("root", F.coalesce("root", "at", "id"))
            .withColumn("hops", F.coalesce("depth", F.lit(0)) + is_sent)
            .join(self._began, "root", "left")
            .withColumn("cause", F.coalesce("cause", F.lit("what is not told")))
            .transform(kept)
        )

    def by_cause(self) -> pa.Table:
        if not self.is_told:
            return TRIGGERED.empty_table()
        sent = F.col("event") == "forward"
        return (
            self.caused.where(F.col("peer").isin(self._facts.brokers) | ~sent)
            .groupBy("cause")
            .agg(
                F.min("fault").alias("fault"), F.min_by("began_node", "began_t").alias("node"),
                F.min("began_t").alias("t"), F.count_if(sent).alias("messages"),
                F.coalesce(F.sum(F.when(sent, F.col("entries"))), F.lit(0)).alias("entries"),
                F.coalesce(F.sum(F.when(sent, F.col("bytes"))), F.lit(0)).alias("bytes"),
                F.count_distinct(F.when(sent, F.col("node"))).alias("brokers"), F.max("hops").alias("hops"),
                F.max("t").alias("last_t"),
            )
            .withColumn("settle_ns", F.col("last_t") - F.col("t"))
            .where("messages > 0")
            .orderBy(F.desc("messages"), "t", "cause")
            .limit(CAUSES_MAX)
            .toArrow()
            .cast(TRIGGERED)
        )  # fmt: skip

    def by_broker(self, causes: pa.Table) -> pa.Table:
        """Where the messages of the greatest causes were sent."""
        names = causes["cause"].slice(0, CAUSES_BY_BROKER_MAX).to_pylist()
        if not names:
            return BY_BROKER.empty_table()
        return (
            self.caused.where((F.col("event") == "forward") & F.col("peer").isin(self._facts.brokers))
            .where(F.col("cause").isin(names))
            .groupBy("cause", "node")
            .agg(F.count("*").alias("messages"))
            .orderBy("cause", F.desc("messages"), "node")
            .toArrow()
            .cast(BY_BROKER)
        )


def _hit_brokers(windows: list[Window]) -> list[str]:
    return sorted({window.target.partition(":")[2] for window in windows if window.target.startswith("broker:")})


class _Label:
    def __init__(self, label: str, span: Span, order: int) -> None:
        self.label, self.span, self.order = label, span, order


def _named(windows: list[Window]) -> list[_Label]:
    """Each fault, and each healing, from which messages may come; deaths explain more than what merely lasts."""
    found = []
    for window, span in zip(windows, spans(windows), strict=True):
        what = fault_name(window)
        order = 0 if window.kind in DEATHS else 1
        end_t = span.end_t if window.heal_t is None else window.heal_t - 1
        found.append(_Label(what, Span(window.id, window.apply_t, end_t), order))
        if window.heal_t is not None:
            healing = Span(window.id, window.heal_t, span.end_t)
            found.append(_Label(f"the healing of the {what}", healing, order))
    return found


def fault_name(window: Window) -> str:
    return f"{window.kind} of {window.target.partition(':')[2]} ({window.id})"
