"""What the brokers' own logs tell of the inside of the network, for the checks that look there.

Worked out when the first of them asks, so a run whose brokers told nothing pays nothing.
"""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import Any, NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from controller.audit import routes
from controller.audit.facts import CONTROLLER, RunFacts
from controller.audit.frames import kept
from controller.audit.load import events
from controller.audit.overlay import Overlay
from controller.audit.promise import DEATHS, Span, fell_into, spans

EXTRA_TRAFFIC = "extra-traffic"
_FOREVER_NS = 2**62


class Way(NamedTuple):
    """From one broker to another, or between a client and its broker."""

    a: str
    b: str


class Inside:
    def __init__(
        self, facts: RunFacts, rows: DataFrame, duties: DataFrame, subscriptions: DataFrame, flight_ns: int
    ) -> None:
        self._facts = facts
        self._rows = rows
        self._duties = duties
        self._subscriptions = subscriptions
        self._flight_ns = flight_ns

    @property
    def silence(self) -> str | None:
        """Why nothing can be said about publications on their way."""
        facts = self._facts
        if facts.setting.log == "deliveries":
            return "the brokers told nothing of messages (log: deliveries)"
        if not facts.links and len(facts.brokers) != 1:
            return "topology.json tells of no links"
        if facts.setting.log is None and not any(file.counts.get("handle") for file in facts.files):
            return "no broker tells of a message"
        return None

    @property
    def silence_on_control(self) -> str | None:
        if self._facts.setting.log == "publications":
            return "the brokers told nothing of control messages (log: publications)"
        return self.silence

    @property
    def may_send_more(self) -> bool:
        """Whether the scheme says that it sends publications where nobody wants them."""
        return EXTRA_TRAFFIC in self._facts.declares

    @property
    def damaged(self) -> list[str]:
        """The brokers whose logs leave something open."""
        return [node for node in self._facts.damaged_nodes if node in self._facts.brokers]

    @property
    def clients_told(self) -> bool:
        """Do the drivers' logs say all about who wanted what, and was sent what?"""
        return not set(self._facts.damaged_nodes) - set(self._facts.brokers) - {CONTROLLER}

    @cached_property
    def overlay(self) -> Overlay:
        return Overlay(self._facts.brokers, self._facts.links, "tree" in self._facts.setting.needs)

    @cached_property
    def routes(self) -> routes.Routes:
        steps = routes.hops(self._rows, self._wanted(), self._facts.brokers)
        return routes.Routes(routes.judged(steps, self.overlay).transform(kept))

    def _wanted(self) -> DataFrame:
        """(msg, broker, t): a subscription there, asked for at t, is owed or allowed the message."""
        pair = self._duties.select("msg", F.explode("pairs").alias("pair")).where(~F.col("pair.forbidden"))
        asked_t = F.coalesce(F.col("pair.subscribe.t"), F.lit(0))
        return pair.select("msg", F.col("pair.broker").alias("broker"), asked_t.alias("t"))

    @cached_property
    def everything_wanted_at(self) -> list[str]:
        """Brokers with a subscription that nobody but they can read: it may want anything."""
        unread = self._subscriptions.where("unreadable is not null and not refused").select("broker").distinct()
        return sorted(row["broker"] for row in unread.collect())

    @cached_property
    def traffic(self) -> dict[tuple[str, Way, str], int]:
        """(event, way, kind) → how many: of `forward` records on the way from the writer, of `handle` to the writer."""
        forwarded = F.col("event") == "forward"
        counted: list[dict[str, Any]] = (
            events(self._rows, "forward", "handle")
            .groupBy(
                "event", "kind",
                F.when(forwarded, F.col("node")).otherwise(F.col("from")).alias("a"),
                F.when(forwarded, F.col("to")).otherwise(F.col("node")).alias("b"),
            )
            .count()
            .toArrow()
            .to_pylist()
        )  # fmt: skip
        return {(row["event"], Way(row["a"], row["b"]), row["kind"]): row["count"] for row in counted}

    @cached_property
    def steady(self) -> set[str]:
        """Brokers that lived through the run in one piece: nothing is forgiven on the ways between them."""
        incarnations = Counter(file.node for file in self._facts.files)
        died = {window.target.partition(":")[2] for window in self._facts.windows if window.kind in DEATHS}
        return {name for name in self._facts.brokers if incarnations[name] == 1 and name not in died}

    def lost_with(self, a: Column, b: Column, t: Column) -> Column:
        """The fault that explains why what a forwarded to b then was never handled, or null.

        A death takes along what it meets under way. What a slow or cut link holds back may be met by a later one. A
        lossless scheme mends losses on the way by itself, whatever they come from.
        """
        facts = self._facts
        if facts.promise == "lossless":
            return fell_into(spans(facts.windows), t, t + self._flight_ns)
        patience_ns = self._flight_ns if all(w.kind in DEATHS for w in facts.windows) else _FOREVER_NS
        explained = F.lit(None).cast("string")
        for window in facts.windows:
            if window.kind in DEATHS:
                broker = window.target.partition(":")[2]
                (span,) = spans([window])
                met = _meets(span, t, patience_ns) & ((a == broker) | (b == broker))
                explained = F.coalesce(explained, F.when(met, F.lit(window.id)))
        return explained


def _meets(span: Span, t: Column, patience_ns: int) -> Column:
    return (t <= span.end_t) & (t >= span.start_t - patience_ns)
