"""Reads one log file line by line: typed rows, and what is damaged. Needs no Spark."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa

from controller.audit import columns, filtertext, patterns, schema, values

FILE_NAME = re.compile(r"(?P<node>[^./]+)\.(?P<inc>[1-9][0-9]*)\.jsonl")
BATCH_ROWS = 16_384
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

    def follows(self, record: Any) -> bool:
        """Is it just what had to come, neither the first line nor the last? Almost every line is."""
        facts = self.facts
        return (
            record.n == self.n_next
            and facts.last_t is not None
            and record.t >= facts.last_t
            and record.node == facts.node
            and record.inc == facts.inc
            and not facts.closed
            and type(record) not in _ENDS
        )

    def take(self, record: Any, event: str) -> None:
        facts = self.facts
        if record.n != self.n_next:
            self.damaged("gap", f"n is {record.n}, expected {self.n_next}")
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


_ENDS = (schema.LINES["open"], schema.LINES["close"])
_TAGS = {line: tag for tag, line in schema.LINES.items()}


class _Waiting:
    """Rows of one event that are not a batch yet."""

    def __init__(self) -> None:
        self.records: list[Any] = []
        self.lines: list[int] = []
        self.added: list[Any] = []


def scan(path: Path, node: str, inc: int) -> Iterator[tuple[str, pa.RecordBatch]]:
    """Batches by event, as `schema.EVENTS` has them; the last ones are the distinct filters and the file's facts."""
    facts = FileFacts(file=f"{node}.{inc}", node=node, inc=inc, counts={}, damage=[])
    state = _Scan(facts)
    decode = schema.decoder().decode
    waiting = {tag: _Waiting() for tag in schema.LINES}
    filters: dict[tuple[str, str], None] = {}
    with path.open("rb") as lines:
        for raw in lines:
            facts.lines += 1
            try:
                record = decode(raw)
                event = _TAGS[type(record)]
                read = _READ.get(event)
                added = read(record) if read is not None else None
            except (ValueError, RecursionError) as problem:  # msgspec's errors, bad UTF-8, nesting without end
                facts.cut = not raw.endswith(b"\n")
                state.n_next += 1
                state.damaged("cut" if facts.cut else "undecodable", _what(raw, problem, facts.cut))
                continue
            if not state.follows(record):
                state.take(record, event)
            state.n_next = record.n + 1
            facts.last_t = record.t
            rows = waiting[event]
            rows.records.append(record)
            rows.lines.append(facts.lines)
            if added is not None:
                rows.added.append(added)
            if event in _WITH_FILTER:
                filters[record.lang, record.filter] = None
            if len(rows.records) == BATCH_ROWS:
                yield event, _batch(event, rows, state)
                waiting[event] = _Waiting()
    for event, rows in waiting.items():
        if rows.records:
            yield event, _batch(event, rows, state)
    if filters:
        yield "filter", filter_batch(filters)
    _finish(state)
    yield "file", pa.RecordBatch.from_pydict({"facts": [msgspec.json.encode(facts).decode()]}, schema.EVENTS["file"])


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


def _content(record: Any) -> tuple[str, values.Attributes | None]:
    """The content as a text, and its attributes if it has some; raises ValueError."""
    content = bytes(record.content)
    if record.lang == "attr":
        return content.decode(), values.attributes(content)
    text = msgspec.json.decode(content, type=str)
    patterns.document(text)
    return text, None


def _args(record: Any) -> str:
    return msgspec.json.encode(msgspec.json.decode(bytes(record.args), type=dict[str, Any])).decode()


# What is read of a record beyond its types, while its line can still be called undecodable.
_READ: dict[str, Callable[[Any], Any]] = {"publish": _content, "fault": _args}
_WITH_FILTER = frozenset(tag for tag, fields in schema.LINE_FIELDS.items() if "filter" in dict(fields))


def _batch(event: str, rows: _Waiting, state: _Scan) -> pa.RecordBatch:
    state.counts[event] += len(rows.records)
    wanted = schema.EVENTS[event]
    made: dict[str, pa.Array] = {
        "file": columns.constant(state.facts.file, len(rows.lines)),
        "line": pa.array(rows.lines, pa.int64()),
    }
    if event == "publish":
        made["content"] = pa.array([text for text, _ in rows.added], pa.string())
        made["attributes"] = columns.attributes([read for _, read in rows.added])
    elif event == "fault":
        made["args"] = pa.array(rows.added, pa.string())
    for name, column in schema.LINE_FIELDS[event]:
        if column not in made:
            made[column] = columns.of(rows.records, name, wanted.field(column).type)
    return pa.RecordBatch.from_arrays([made[field.name] for field in wanted], schema=wanted)


def filter_batch(filters: dict[tuple[str, str], None]) -> pa.RecordBatch:
    read = [_disjuncts(text) if lang == "attr" else _pattern(text) for lang, text in filters]
    return pa.RecordBatch.from_pydict(
        {
            "filter": [text for _, text in filters],
            "lang": [lang for lang, _ in filters],
            "disjuncts": [disjuncts for disjuncts, _ in read],
            "unreadable": [unreadable for _, unreadable in read],
        },
        schema.EVENTS["filter"],
    )


def _disjuncts(text: str) -> tuple[list[list[dict[str, Any]]] | None, str | None]:
    try:
        parsed = filtertext.parse(text)
    except filtertext.FilterError as problem:
        return None, str(problem)
    return [[{"name": c.name, "op": c.op, **c.value._asdict()} for c in disjunct] for disjunct in parsed], None


def _pattern(text: str) -> tuple[None, str | None]:
    """A pattern has no constraints to be joined: a readable filter without disjuncts is one."""
    try:
        patterns.pattern(text)
    except patterns.PatternError as problem:
        return None, str(problem)
    return None, None
