"""Values of attributes in a form that Spark can join and compare exactly."""

from __future__ import annotations

import math
from typing import NamedTuple

import msgspec

Value = str | int | float | bool

STRING, NUMBER, BOOLEAN = "s", "n", "b"
INTEGER_MIN, INTEGER_MAX = -(2**63), 2**64 - 1


class Encoded(NamedTuple):
    """Every field is filled, so that equality of values is equality of all fields.

    A number is the nearest double and what is missing to its exact value. Rounding is monotone, so comparing the
    doubles first and the residues second compares 64-bit integers and floats by exact value.
    """

    kind: str
    text: str = ""
    double: float = 0.0
    residue: int = 0


def encode(value: Value) -> Encoded:
    if isinstance(value, bool):
        return Encoded(BOOLEAN, double=float(value))
    if isinstance(value, str):
        value.encode()  # half a surrogate pair is no character
        return Encoded(STRING, text=value)
    if isinstance(value, int):
        if not INTEGER_MIN <= value <= INTEGER_MAX:
            raise ValueError(f"integer {value} is beyond 64 bits")
        double = float(value)
        return Encoded(NUMBER, double=double, residue=value - int(double))
    if not math.isfinite(value):
        raise ValueError("number is not finite")
    return Encoded(NUMBER, double=value + 0.0)  # -0.0 becomes 0.0


Attributes = list[tuple[str, Encoded]]

_contents = msgspec.json.Decoder(dict[str, Value])


def attributes(content: bytes | memoryview) -> Attributes:
    """The attributes of a JSON object; raises ValueError (msgspec's errors are such) if it is none."""
    return [(name, encode(value)) for name, value in _contents.decode(content).items()]
