"""The values of one key of a matrix, however they are written."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import msgspec
from msgspec import Meta, Struct

from controller import yamlfile
from controller.yamlfile import Document, Step

Whole = Annotated[int, Meta(ge=0, le=2**53)]
VALUES_MAX = 10_000


class Choice(NamedTuple):
    label: str
    """For people, in tables."""
    document: Document


class Range(Struct, frozen=True, forbid_unknown_fields=True, rename={"first": "from", "last": "to"}):
    """Whole numbers, both ends included."""

    first: Whole
    last: Whole
    step: Annotated[int, Meta(ge=1)] = 1


def values(document: Document, key: str) -> list[Choice]:
    path: list[Step] = ["matrix", key]
    given = document.part(path)
    if isinstance(given.data, list):
        parts = [given.part([index]) for index in range(len(given.data))]
        return [Choice(_label(part.data, number), part) for number, part in enumerate(parts, 1)]
    if set(given.data) & {"from", "to"}:
        return _counted(document, path, given)
    return [Choice(name, given.part([name])) for name in given.data]


def _counted(document: Document, path: list[Step], given: Document) -> list[Choice]:
    asked = given.convert(Range)
    numbers = range(asked.first, asked.last + 1, asked.step)
    if not 0 < len(numbers) <= VALUES_MAX:
        told = f"from {asked.first} to {asked.last} are {len(numbers)} values; there must be 1 to {VALUES_MAX}"
        raise document.problem(path, told)
    return [Choice(str(number), yamlfile.parse(str(number), f"{path[-1]}: {number}")) for number in numbers]


def _label(value: Any, number: int) -> str:
    """Lists are too long for a table: they go by their number."""
    if isinstance(value, str):
        return value
    return str(number) if isinstance(value, list) else msgspec.json.encode(value).decode().replace('"', "")
