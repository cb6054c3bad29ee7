"""The audit's Parquet tables, thinned to what a page can show. Reading them needs no Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from controller.audit.report.model import DelayPoint, Hop, Load, QueuePoint, Violation, ViolationGroup
from controller.errors import UsageError
from controller.text import clean, natural, whole

POINTS_MAX = 480
HOPS_FIRST = 28
HOPS_LAST = 12
CHECKS_MAX = 40
FOLDED_SHARE = 4

Sort = Literal["broken", "doubtful", "excused"]

DELAY = {"t": pa.int64(), "count": pa.int64()} | {
    name: pa.float64() for name in ("p50_ns", "p90_ns", "p99_ns", "max_ns")
}
QUEUE = {
    "node": pa.string(), "t": pa.int64(), "depth_max": pa.float64(), "table": pa.int64(), "unacked": pa.int64(),
    "wait_p99_ns": pa.float64(), "work_ns": pa.int64(), "handled": pa.int64(),
}  # fmt: skip
LINKS = {"a": pa.string(), "b": pa.string(), "publications": pa.int64(), "control": pa.int64(), "bytes": pa.int64()}
LINK_LOAD = {
    "a": pa.string(), "b": pa.string(), "t": pa.int64(), "publications": pa.int64(), "control": pa.int64(),
}  # fmt: skip
VIOLATION_KEYS = {"verdict": pa.string(), "check": pa.string(), "excused": pa.bool_(), "t": pa.int64()}


class Tables:
    def __init__(self, audit: Path) -> None:
        self._audit = audit

    def absent(self) -> tuple[str, ...]:
        names = ("delay", "delay_total", "queue", "links", "violations")
        return tuple(f"audit/{name}.parquet" for name in names if self._dataset(name) is None)

    def moments(self) -> list[int]:
        """First and last moment that the tables speak of, for a verdict that does not tell the run's span."""
        moments: list[int] = []
        for name in ("delay", "queue"):
            column = self._table(name, {"t": pa.int64()})["t"].drop_null()
            if len(column):
                moments += [pc.min(column).as_py(), pc.max(column).as_py()]
        return moments

    def delay(self, start_t: int, end_t: int) -> tuple[DelayPoint, ...]:
        table = self._table("delay", DELAY)
        table = table.filter(pc.and_(pc.is_valid(table["p50_ns"]), pc.greater(table["count"], 0)))
        merged = _thinned(table, [], {"count": "sum"} | dict.fromkeys(list(DELAY)[2:], "max"), start_t, end_t)
        rows = merged.to_pylist()
        return tuple(DelayPoint(**row) for row in sorted(rows, key=lambda row: row["t"]) if _complete(row))

    def delay_total(self) -> dict[str, float]:
        dataset = self._dataset("delay_total")
        rows = dataset.head(1).to_pylist() if dataset is not None else []
        return {clean(name): float(value) for row in rows for name, value in row.items() if whole(value) is not None}

    def queue(self, start_t: int, end_t: int) -> dict[str, tuple[QueuePoint, ...]]:
        how = dict.fromkeys(("depth_max", "table", "unacked", "wait_p99_ns"), "max") | {
            "work_ns": "sum", "handled": "sum",
        }  # fmt: skip
        merged = _thinned(self._table("queue", QUEUE), ["node"], how, start_t, end_t)
        by_node: dict[str, list[QueuePoint]] = {}
        for row in merged.to_pylist():
            node = clean(row.pop("node") or "")
            filled = {name: value if name == "depth_max" else value or 0 for name, value in row.items()}
            by_node.setdefault(node, []).append(QueuePoint(**filled))
        return {node: tuple(sorted(by_node[node], key=lambda point: point.t)) for node in sorted(by_node, key=natural)}

    def loads(self) -> dict[tuple[str, str], Load]:
        loads: dict[tuple[str, str], Load] = {}
        for row in self._table("links", LINKS).to_pylist():
            key = (clean(row["a"] or ""), clean(row["b"] or ""))
            loads[key] = Load(row["publications"] or 0, row["control"] or 0, row["bytes"] or 0)
        return loads

    def link_load(self) -> dict[tuple[str, str], list[tuple[int, int]]]:
        load: dict[tuple[str, str], list[tuple[int, int]]] = {}
        for row in self._table("link_load", LINK_LOAD).to_pylist():
            if row["t"] is not None:
                messages = (row["publications"] or 0) + (row["control"] or 0)
                load.setdefault((clean(row["a"] or ""), clean(row["b"] or "")), []).append((row["t"], messages))
        return load

    def violations(self, shown_max: int) -> dict[Sort, tuple[ViolationGroup, ...]]:
        """What was broken, could not be told, or was excused; by check, the earliest of each with their paths."""
        dataset = self._dataset("violations")
        if dataset is None:
            return {"broken": (), "doubtful": (), "excused": ()}
        keys = self._table("violations", VIOLATION_KEYS)
        keys = keys.append_column("row", pa.array(range(len(keys)), pa.int64()))
        excused = pc.fill_null(keys["excused"], False)
        doubtful = pc.and_not(pc.fill_null(pc.equal(keys["verdict"], "unknown"), False), excused)
        broken = pc.invert(pc.or_(excused, doubtful))
        return {
            "broken": _groups(dataset, keys.filter(broken), shown_max),
            "doubtful": _groups(dataset, keys.filter(doubtful), shown_max // FOLDED_SHARE),
            "excused": _groups(dataset, keys.filter(excused), shown_max // FOLDED_SHARE),
        }

    def _dataset(self, name: str) -> ds.Dataset | None:
        path = self._audit / f"{name}.parquet"
        if not path.exists():
            return None
        try:
            dataset = ds.dataset(path, format="parquet")
        except (pa.ArrowException, OSError) as problem:
            raise UsageError(f"{path} is not a Parquet table ({clean(problem, 120)}); repeat the audit") from None
        return dataset if len(dataset.schema) else None

    def _table(self, name: str, schema: dict[str, pa.DataType]) -> pa.Table:
        """The named columns in the types we count on; a column that is not there is all null."""
        dataset = self._dataset(name)
        if dataset is None:
            return pa.table({column: pa.array([], kind) for column, kind in schema.items()})
        there = [column for column in schema if column in dataset.schema.names]
        try:
            table = dataset.to_table(columns=there)
            columns = {
                column: table[column].cast(kind, safe=False) if column in there else pa.nulls(table.num_rows, kind)
                for column, kind in schema.items()
            }
        except (pa.ArrowException, OSError) as problem:
            where = self._audit / f"{name}.parquet"
            raise UsageError(f"{where} cannot be read ({clean(problem, 120)}); repeat the audit") from None
        return pa.table(columns)


def _complete(row: dict[str, Any]) -> bool:
    return all(value is not None for value in row.values())


def _thinned(table: pa.Table, by: list[str], how: dict[str, str], start_t: int, end_t: int) -> pa.Table:
    """Buckets merged until at most POINTS_MAX are left: a merged bucket shows the worst of its parts."""
    width = max(1, -(-(end_t - start_t) // POINTS_MAX))
    table = table.filter(pc.is_valid(table["t"]))
    slots = pc.divide(pc.subtract(table["t"], start_t), width)
    inside = pc.and_(pc.greater_equal(table["t"], start_t), pc.less_equal(table["t"], end_t))
    table = table.append_column("slot", slots).filter(inside)
    merged = table.group_by([*by, "slot"]).aggregate([("t", "min"), *how.items()])
    names = {f"{column}_{kind}": column for column, kind in how.items()} | {"t_min": "t"}
    return merged.rename_columns([names.get(name, name) for name in merged.column_names]).drop_columns("slot")


def _groups(dataset: ds.Dataset, keys: pa.Table, shown_max: int) -> tuple[ViolationGroup, ...]:
    counted = keys.group_by("check").aggregate([("row", "count")]).to_pylist()
    totals = {row["check"]: row["row_count"] for row in counted}
    # Broken promises of many kinds share the room: a flood of one must not push the others off the page.
    names = sorted(totals, key=lambda name: (totals[name], name or ""))
    rows: dict[str | None, list[int]] = {}
    room = shown_max
    for position, name in enumerate(names):
        share = room // (len(names) - position)
        mine = keys.filter(pc.is_null(keys["check"]) if name is None else pc.equal(keys["check"], name))
        earliest = mine.sort_by([("t", "ascending"), ("row", "ascending")]).slice(0, min(share, totals[name]))
        rows[name] = earliest["row"].to_pylist()
        room -= len(rows[name])
    wanted = sorted(row for chosen in rows.values() for row in chosen)
    taken = dict(zip(wanted, dataset.take(pa.array(wanted, pa.int64())).to_pylist(), strict=True)) if wanted else {}
    groups = (
        ViolationGroup(clean(name or "unnamed"), totals[name], tuple(violation(taken[row]) for row in rows[name]))
        for name in sorted(totals, key=lambda name: name or "")
    )
    return tuple(groups)[:CHECKS_MAX]


def violation(row: dict[str, Any]) -> Violation:
    hops = [hop for hop in row.get("path") or [] if isinstance(hop, dict) and whole(hop.get("t")) is not None]
    kept = hops if len(hops) <= HOPS_FIRST + HOPS_LAST else hops[:HOPS_FIRST] + hops[-HOPS_LAST:]
    return Violation(
        check=_word(row, "check"),
        verdict=_word(row, "verdict"),
        client=_word(row, "client"),
        msg=_word(row, "msg"),
        sub=_word(row, "sub"),
        t=whole(row.get("t")),
        fault=_word(row, "fault"),
        excused=bool(row.get("excused")),
        detail=_word(row, "detail"),
        path=tuple(_hop(hop) for hop in kept),
        path_omitted=len(hops) - len(kept),
    )


def _hop(hop: dict[str, Any]) -> Hop:
    words = {name: _word(hop, name, 80) for name in ("node", "event", "from", "to", "kind")}
    from_ = words.pop("from")
    return Hop(t=int(hop["t"]), from_=from_, n=whole(hop.get("n")), **words)


def _word(row: dict[str, Any], name: str, limit: int = 400) -> str:
    value = row.get(name)
    return "" if value is None else clean(value, limit)
