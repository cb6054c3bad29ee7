"""What a log line and a row of the typed tables are, derived from `node.core.records`."""

from __future__ import annotations

import types
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec
import pyarrow as pa

from node.core.records import RECORDS, Content, Record

# Sums and differences of two such numbers stay within 64 bits.
_BOUND = 2**62
_Integer = Annotated[int, msgspec.Meta(ge=-_BOUND, le=_BOUND)]

ENCODED = [("kind", pa.string()), ("text", pa.string()), ("double", pa.float64()), ("residue", pa.int64())]
ATTRIBUTE = pa.struct([("name", pa.string()), *ENCODED])
CONSTRAINT = pa.struct([("name", pa.string()), ("op", pa.string()), *ENCODED])

# Not in the log: where the line stands, what a content says, and rows of our own about filters and whole files.
_EVERYWHERE = [("file", pa.string()), ("line", pa.int64())]
_ADDED: dict[str, list[tuple[str, pa.DataType]]] = {
    "publish": [("attributes", pa.list_(ATTRIBUTE))],
    "filter": [
        ("filter", pa.string()), ("lang", pa.string()), ("disjuncts", pa.list_(pa.list_(CONSTRAINT))),
        ("unreadable", pa.string()),
    ],
    "file": [("facts", pa.string())],
}  # fmt: skip


def _parts(hint: Any) -> tuple[Any, bool]:
    """A type without annotations and without None, and whether None was allowed."""
    if get_origin(hint) is Annotated:
        return _parts(get_args(hint)[0])
    if get_origin(hint) in (Union, types.UnionType) and type(None) in get_args(hint):
        rest = tuple(arg for arg in get_args(hint) if arg is not type(None))
        return _parts(Union[rest])[0], True  # noqa: UP007 (the members are only known at run time)
    return hint, False


def _decoded(hint: Any) -> Any:
    """The type to decode into: integers bounded, open-ended values left as JSON text."""
    plain, optional = _parts(hint)
    if plain is int:
        plain = _Integer
    elif plain == dict[str, int]:
        plain = dict[str, _Integer]
    elif plain in (Content, dict[str, Any]):
        plain = msgspec.Raw
    return plain | None if optional else plain


def _column(hint: Any) -> pa.DataType:
    plain, _ = _parts(hint)
    if plain is int:
        return pa.int64()
    if plain == list[str]:
        return pa.list_(pa.string())
    if plain == dict[str, int]:
        return pa.map_(pa.string(), pa.int64())
    if plain is str or get_origin(plain) is Literal or plain in (Content, dict[str, Any]):
        return pa.string()
    raise TypeError(f"records.py has a field type the audit has no column for: {plain}")


def _line_type(record: type[Record]) -> type[msgspec.Struct]:
    fields = [
        (f.name, _decoded(f.type), msgspec.field(name=f.encode_name))
        if f.required
        else (f.name, _decoded(f.type), msgspec.field(name=f.encode_name, default=f.default))
        for f in msgspec.structs.fields(record)
    ]
    tag = _tag(record)
    # Nothing in a line can refer to itself, so the garbage collector need not go through millions of them.
    return msgspec.defstruct(record.__name__, fields, tag_field="event", tag=tag, kw_only=True, gc=False)


def _tag(record: type[Record]) -> str:
    return str(record.__struct_config__.tag)


def _event_schemas() -> dict[str, pa.Schema]:
    schemas = {}
    for record in RECORDS:
        tag = _tag(record)
        own = [(f.encode_name, _column(f.type)) for f in msgspec.structs.fields(record)]
        schemas[tag] = pa.schema([*own, *_EVERYWHERE, *_ADDED.get(tag, ())])
    for tag in _ADDED.keys() - schemas.keys():
        schemas[tag] = pa.schema(_ADDED[tag])
    return schemas


def _row_schema() -> pa.Schema:
    columns: dict[str, pa.DataType] = {"event": pa.string()}
    for event, schema in EVENTS.items():
        for column in schema:
            if columns.setdefault(column.name, column.type) != column.type:
                raise TypeError(f"{event!r} gives {column.name!r} another type; the audit has one column for it")
    return pa.schema(list(columns.items()))


LINES = {_tag(record): _line_type(record) for record in RECORDS}
LINE_FIELDS = {tag: tuple((f.name, f.encode_name) for f in msgspec.structs.fields(line)) for tag, line in LINES.items()}
EVENTS = _event_schemas()
"""What is stored of each event, and of `filter` (one row per distinct text) and `file` (one row per log file)."""
ROWS = _row_schema()
"""All of them in one table: what an event does not have is null."""


def decoder() -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(Union[tuple(LINES.values())])  # noqa: UP007 (the members are derived)
