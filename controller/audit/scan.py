"""Reads one log file line by line: typed rows, and what is damaged. Needs no Spark."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa

from controller.audit import filtertext, patterns, schema, values

FILE_NAME = re.compile(r"(?P<node>[^./]+)\.(?P<inc>[1-9][0-9]*)\.jsonl")
BATCH_ROWS = 8192
DAMAGE_LISTED_MAX = 100
_TEXT_SHOWN_MAX = 80


class Damage(msgspec.Struct):
    line: int
    kind: str
    what: str


class FileFacts(msgspec.Struct):
    file: str
    node: str
    inc: int
    lines: int = 0
    role: str | None = None
    scheme: str | None = None
    first_t: int | None = None
    last_t: int | None = None
    closed: bool = False
    cut: bool = False
    counts: dict[str, int] = {}
    damaged_lines: int = 0
    damage: list[Damage] = []


class _Scan:
    """What has been seen of a file so far."""

    def __init__(self, facts: FileFacts) -> None:
        self.facts = facts
        self.counts: Counter[str] = Counter()
        self.n_next = 1

    def damaged(self, kind: str, what: str) -> None:
        self.facts.damaged_lines += 1
        if self.facts.damaged_lines <= DAMAGE_LISTED_MAX:
            self.facts.damage.append(Damage(self.facts.lines, kind, what))

    def take(self, record: Any, event: str) -> None:
        facts = self.facts
        self.counts[event] += 1
        if record.n != self.n_next:
            self.damaged("gap", f"n is {record.n}, expected {self.n_next}")
        self.n_next = record.n + 1
        if (record.node, record.inc) != (facts.node, facts.inc):
            self.damaged("name", f"written by {record.node}.{record.inc}, in the log of {facts.file}")
        if facts.last_t is not None and record.t < facts.last_t:
            self.damaged("clock", f"t goes back by {facts.last_t - record.t} ns")
        if facts.closed:
            self.damaged("close", f"{event} after close")
        if (event == "open") != (facts.lines == 1):
            if event == "open":
                self.damaged("open", "open is not the first line")
            else:
                self.damaged("open", f"begins with {event} instead of open")
        if event == "open":
            facts.role, facts.scheme = record.role, record.scheme
        facts.closed = facts.closed or event == "close"
        facts.first_t = record.t if facts.first_t is None else facts.first_t
        facts.last_t = record.t


def scan(path: Path, node: str, inc: int) -> Iterator[pa.RecordBatch]:
    """Batches of typed rows (one event each); the last one is a single row with the file's facts."""
    facts = FileFacts(file=f"{node}.{inc}", node=node, inc=inc, counts={}, damage=[])
    state = _Scan(facts)
    decode = schema.decoder().decode
    waiting: dict[str, list[dict[str, Any]]] = {}
    with path.open("rb") as lines:
        for raw in lines:
            facts.lines += 1
            try:
                record = decode(raw)
                event: str = record.__struct_config__.tag
                row = _row(record, event, facts)
            except (ValueError, RecursionError) as problem:  # msgspec's errors, bad UTF-8, nesting without end
                facts.cut = not raw.endswith(b"\n")
                state.n_next += 1
                state.damaged("cut" if facts.cut else "undecodable", _what(raw, problem, facts.cut))
                continue
            state.take(record, event)
            rows = waiting.setdefault(event, [])
            rows.append(row)
            if len(rows) == BATCH_ROWS:
                yield batch(event, waiting.pop(event))
    _finish(state)
    for event, rows in waiting.items():
        yield batch(event, rows)
    yield batch("file", [{"facts": msgspec.json.encode(facts).decode()}])


def _finish(state: _Scan) -> None:
    facts = state.facts
    facts.counts = dict(state.counts)
    # Beside the listed lines, however many those are: what follows from a missing end must not depend on the limit.
    if facts.lines == 0:
        facts.damage.append(Damage(0, "empty", "the file is empty"))
    elif not facts.closed:
        facts.damage.append(Damage(facts.lines, "unclosed", "ends without close"))


def _what(raw: bytes, problem: Exception, cut: bool) -> str:
    text = _printable(raw[:_TEXT_SHOWN_MAX].decode(errors="replace").strip())
    return f"{'ends in half a line' if cut else 'cannot be read'} ({problem}): {text}"


def _printable(text: str) -> str:
    """Somebody else's bytes must not steer the terminal they are shown on."""
    return "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text)


def _row(record: Any, event: str, facts: FileFacts) -> dict[str, Any]:
    row = {column: getattr(record, name) for name, column in schema.LINE_FIELDS[event]}
    row["file"], row["line"] = facts.file, facts.lines
    enrich = _ENRICHED.get(event)
    if enrich is not None:
        enrich(row)
    return row


def _with_attributes(row: dict[str, Any]) -> None:
    content = bytes(row["content"])
    if row["lang"] == "attr":
        row["attributes"] = [_flat(name, encoded) for name, encoded in values.attributes(content)]
        row["content"] = content.decode()
    else:
        row["attributes"] = None
        row["content"] = msgspec.json.decode(content, type=str)
        patterns.document(row["content"])


def _with_disjuncts(row: dict[str, Any]) -> None:
    read = _disjuncts if row["lang"] == "attr" else _pattern
    row["disjuncts"], row["unreadable"] = read(row["filter"])


def _with_args(row: dict[str, Any]) -> None:
    row["args"] = msgspec.json.encode(msgspec.json.decode(bytes(row["args"]), type=dict[str, Any])).decode()


_ENRICHED: dict[str, Callable[[dict[str, Any]], None]] = {
    "publish": _with_attributes,
    "fault": _with_args,
    **dict.fromkeys(
        ("advertise", "advertised", "unadvertise", "subscribe", "established", "unsubscribe", "unsubscribed"),
        _with_disjuncts,
    ),
}


@lru_cache(maxsize=4096)
def _disjuncts(text: str) -> tuple[list[list[dict[str, Any]]] | None, str | None]:
    try:
        parsed = filtertext.parse(text)
    except filtertext.FilterError as problem:
        return None, str(problem)
    return [[{**_flat(c.name, c.value), "op": c.op} for c in disjunct] for disjunct in parsed], None


@lru_cache(maxsize=4096)
def _pattern(text: str) -> tuple[None, str | None]:
    """A pattern has no constraints to be joined: a readable filter without disjuncts is one."""
    try:
        patterns.pattern(text)
    except patterns.PatternError as problem:
        return None, str(problem)
    return None, None


def _flat(name: str, value: values.Encoded) -> dict[str, Any]:
    return {"name": name, **value._asdict()}


def batch(event: str, rows: list[dict[str, Any]]) -> pa.RecordBatch:
    columns = []
    for column in schema.ROWS:
        if column.name == "event":
            columns.append(pa.array([event] * len(rows), column.type))
        elif column.name in rows[0]:
            columns.append(pa.array([row[column.name] for row in rows], column.type))
        else:
            columns.append(pa.nulls(len(rows), column.type))
    return pa.RecordBatch.from_arrays(columns, schema=schema.ROWS)
