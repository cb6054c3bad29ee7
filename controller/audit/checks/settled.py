"""Every request comes to its end: what `established` and 'the network is quiet' mean rests on that."""

from __future__ import annotations

from collections import Counter

from pyspark.sql import functions as F

from controller.audit.evidence import Evidence
from controller.audit.findings import UNKNOWN, Findings, Violation, collect, together, told
from controller.audit.inside import Inside
from controller.audit.load import events

_SETTLES_NOTHING = frozenset({"publication", "settled", "refused", "silence", "digest", "ack", "nack"})


def find(evidence: Evidence) -> Findings:
    """Like a subscription that is never confirmed (`confirmed`), this is `unknown`: times say nothing any more."""
    inside = evidence.inside
    told_by_brokers = told([]) if inside.silence_on_control else told(_unsettled(inside))
    return together(_unanswered(evidence), told_by_brokers)


def _unanswered(evidence: Evidence) -> Findings:
    """Requests of clients that stayed, while no broker died."""
    asked = sum(file.counts.get("unsubscribe", 0) + file.counts.get("advertise", 0) for file in evidence.facts.files)
    if evidence.facts.broker_died or not asked:
        return told([])
    rows = evidence.rows
    key = F.coalesce("adv", "sub")
    left = events(rows, "detach").select("client", "broker").distinct()
    refused = events(rows, "refuse").select(F.col("what").alias("key")).distinct()
    answer = F.when(F.col("event") == "advertise", F.lit("advertised")).otherwise(F.lit("unsubscribed"))
    answered = events(rows, "advertised", "unsubscribed").select(key.alias("key"), F.col("event").alias("answer"))
    open_ = (
        events(rows, "advertise", "unsubscribe")
        .select("client", "broker", "event", "t", key.alias("key"), answer.alias("answer"))
        .join(answered.distinct(), ["key", "answer"], "left_anti")
        .join(left, ["client", "broker"], "left_anti")
        .join(refused, "key", "left_anti")
    )
    return collect(
        open_.select(
            F.lit(UNKNOWN).alias("verdict"), "client", F.lit(None).cast("string").alias("msg"),
            F.col("key").alias("sub"), "t", F.lit(None).cast("string").alias("fault"), F.lit(False).alias("excused"),
            F.concat(F.col("client"), F.lit(" asked to "), F.col("event"), F.lit(" "), F.col("key"), F.lit(" at "),
                     F.col("broker"), F.lit(", and was never answered, though no broker died")).alias("detail"),
        )
    )  # fmt: skip


def _unsettled(inside: Inside) -> list[Violation]:
    """A broker that lived answers every control message of a neighbour that lived, once all it caused is done."""
    handled: Counter[tuple[str, str]] = Counter()
    settled: Counter[tuple[str, str]] = Counter()
    for (event, way, kind), count in inside.traffic.items():
        if not {way.a, way.b} <= inside.steady:
            continue
        if event == "handle" and kind not in _SETTLES_NOTHING:
            handled[way.a, way.b] += count
        elif event == "forward" and kind == "settled":
            settled[way.b, way.a] += count
    return [
        Violation(UNKNOWN, f"{b} settled {settled[a, b]} of the {handled[a, b]} control messages it had from {a}")
        for a, b in sorted({*handled, *settled})
        if settled[a, b] != handled[a, b]
    ]
