"""Which losses a fault excuses, by what the scheme promises."""

from __future__ import annotations

from typing import Any

import msgspec
from pyspark.sql import Column
from pyspark.sql import functions as F

PROMISES = ("perfect", "self-healing", "lossless")
DEATHS = ("kill", "restart")
SETTLE_NS_MAX = 5_000_000_000
_FOREVER = 2**62


class Window(msgspec.Struct):
    id: str
    kind: str
    target: str
    args: dict[str, Any]
    apply_t: int
    heal_t: int | None = None
    settled_t: int | None = None


class Span(msgspec.Struct):
    """A closed interval of time that bears a fault's id."""

    fault: str
    start_t: int
    end_t: int


def windows(controller: list[dict[str, Any]]) -> tuple[list[Window], list[str]]:
    """Fault windows from the controller's `fault` and `phase` rows in order, and what does not fit together."""
    found: list[Window] = []
    problems: list[str] = []
    for position, row in enumerate(controller):
        if row["event"] != "fault":
            continue
        open_window = next((w for w in found if (w.id, w.target) == (row["id"], row["target"]) and w.heal_t is None),
                           None)  # fmt: skip
        if row["phase"] == "apply" and open_window is None:
            args = msgspec.json.decode(row["args"], type=dict[str, Any])
            found.append(Window(row["id"], row["kind"], row["target"], args, row["t"]))
        elif row["phase"] == "heal" and open_window is not None:
            open_window.heal_t = row["t"]
            open_window.settled_t = _settled_t(row["t"], controller[position + 1 :])
        else:
            problems.append(f"fault {row['id']} on {row['target']}: {row['phase']} does not follow its counterpart")
    return found, problems


def _settled_t(heal_t: int, later: list[dict[str, Any]]) -> int:
    latest = heal_t + SETTLE_NS_MAX
    quiet = (row["t"] for row in later if row["event"] == "phase" and row["name"] == "quiet")
    return min(next(quiet, latest), latest)


def spans(faults: list[Window]) -> list[Span]:
    return [Span(w.id, w.apply_t, _FOREVER if w.settled_t is None else w.settled_t) for w in faults]


def excusing(promise: str | None, faults: list[Window]) -> list[Span]:
    """When a loss is no breach of the promise. Only a broker's death excuses."""
    deaths = spans([w for w in faults if w.kind in DEATHS])
    if promise == "self-healing":
        return deaths
    if promise == "perfect" and deaths:
        first = min(deaths, key=lambda span: span.start_t)
        return [Span(first.fault, first.start_t, _FOREVER)]
    return []


def fell_into(candidates: list[Span], start_t: Column, end_t: Column) -> Column:
    """The id of the first span that [start_t, end_t] meets, or null."""
    if not candidates:
        return F.lit(None).cast("string")
    array = F.array(*[F.struct(F.lit(s.fault).alias("fault"), F.lit(s.start_t).cast("long").alias("start_t"),
                               F.lit(s.end_t).cast("long").alias("end_t")) for s in candidates])  # fmt: skip
    met = F.filter(array, lambda span: (start_t <= span["end_t"]) & (end_t >= span["start_t"]))
    return F.get(met, 0)["fault"]
