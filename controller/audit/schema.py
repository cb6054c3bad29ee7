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

# Not in the log: where the line stands, what its filter or content says, and the facts about a whole file.
_ADDED = [
    ("file", pa.string()),
    ("line", pa.int64()),
    ("attributes", pa.list_(ATTRIBUTE)),
    ("disjuncts", pa.list_(pa.list_(CONSTRAINT))),
    ("unreadable", pa.string()),
    ("facts", pa.string()),
]


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
    tag = record.__struct_config__.tag
    return msgspec.defstruct(record.__name__, fields, tag_field="event", tag=tag, kw_only=True)


def _row_schema() -> pa.Schema:
    columns: dict[str, pa.DataType] = {"event": pa.string()}
    for record in RECORDS:
        for f in msgspec.structs.fields(record):
            wanted = _column(f.type)
            if columns.setdefault(f.encode_name, wanted) != wanted:
                raise TypeError(f"records.py gives {f.encode_name!r} two types; the audit has one column for it")
    return pa.schema([*columns.items(), *_ADDED])


LINES = {record.__struct_config__.tag: _line_type(record) for record in RECORDS}
LINE_FIELDS = {tag: tuple((f.name, f.encode_name) for f in msgspec.structs.fields(line)) for tag, line in LINES.items()}
ROWS = _row_schema()


def decoder() -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(Union[tuple(LINES.values())])  # noqa: UP007 (the members are derived)
