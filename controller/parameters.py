"""Parameters as their types declare them: name, type, default, range and meaning, for those who choose them."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct, inspect

_EDGES = ("ge", "gt", "le", "lt")
_WORDS = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}


def described(kind: type[Struct]) -> list[dict[str, Any]]:
    return [_parameter(field) for field in inspect.type_info(kind).fields]  # type: ignore[attr-defined]


def told_range(parameter: dict[str, Any]) -> str:
    """In words, for a table."""
    if values := parameter.get("values"):
        return ", ".join(map(str, values))
    if "ge" in parameter and "le" in parameter:
        return f"{parameter['ge']:,} to {parameter['le']:,}"
    return ", ".join(f"{_WORDS[edge]} {parameter[edge]:,}" for edge in _EDGES if edge in parameter)


def _parameter(field: inspect.Field) -> dict[str, Any]:
    told = _told(field.type)
    default = field.default
    if field.default_factory is not msgspec.NODEFAULT:
        default = field.default_factory()
    return {
        "name": field.encode_name,
        "type": told.pop("type"),
        "default": None if default is msgspec.NODEFAULT else default,
        **{key: value for key, value in told.items() if key != "meaning"},
        "meaning": told.get("meaning", ""),
    }


def _told(kind: inspect.Type) -> dict[str, Any]:
    if isinstance(kind, inspect.Metadata):
        described = (kind.extra_json_schema or {}).get("description")
        return {**_told(kind.type), **({"meaning": described} if described else {})}
    if isinstance(kind, inspect.UnionType):
        return _union([_told(member) for member in kind.types if not isinstance(member, inspect.NoneType)])
    if isinstance(kind, inspect.LiteralType):
        return {"type": "word", "values": list(kind.values)}
    if isinstance(kind, inspect.StructType) and kind.tag is not None:
        return {"type": "mapping", "values": [kind.tag]}
    bounds = {edge: value for edge in _EDGES if (value := getattr(kind, edge, None)) is not None}
    return {"type": type(kind).__name__.removesuffix("Type").lower(), **bounds}


def _union(members: list[dict[str, Any]]) -> dict[str, Any]:
    """A whole number or a fraction is a number; a word stands for a mapping's tag."""
    made: dict[str, Any] = {}
    values: dict[Any, None] = {}
    for member in members:
        values.update(dict.fromkeys(member.get("values", ())))
        made.update(member)
    types = {member["type"] for member in members}
    made["type"] = "number" if types == {"int", "float"} else " or ".join(sorted(types))
    return {**made, "values": list(values)} if values else made
