"""Arrow columns from records, column by column: a row of its own for every line would cost more than reading it."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any

import pyarrow as pa

from controller.audit import schema
from controller.audit.values import Attributes


def of(records: Sequence[Any], field: str, kind: pa.DataType) -> pa.Array:
    return pa.array(list(map(attrgetter(field), records)), kind)


def constant(text: str, length: int) -> pa.Array:
    return pa.repeat(pa.scalar(text, pa.string()), length)


def attributes(contents: Sequence[Attributes | None]) -> pa.Array:
    offsets: list[int | None] = []
    flat: Attributes = []
    for content in contents:
        offsets.append(None if content is None else len(flat))
        flat += content or ()
    fields = [
        pa.array([name for name, _ in flat], pa.string()),
        *(pa.array([value[place] for _, value in flat], kind) for place, (_, kind) in enumerate(schema.ENCODED)),
    ]
    structs = pa.StructArray.from_arrays(fields, fields=list(schema.ATTRIBUTE))
    return pa.ListArray.from_arrays(pa.array([*offsets, len(flat)], pa.int32()), structs,
                                    type=pa.list_(schema.ATTRIBUTE))  # fmt: skip
