"""Strings and numbers as people read them. Everything from a log passes `clean` before it reaches the page."""

from __future__ import annotations

import math
import re
import unicodedata
from typing import Any

NS_PER_S = 1_000_000_000
STRING_LIMIT = 400

# Control and format characters could reverse or hide what follows them; half a surrogate pair cannot be written at all.
_UNPRINTABLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def clean(value: object, limit: int = STRING_LIMIT) -> str:
    text = value if isinstance(value, str) else str(value)
    if len(text) > limit:
        text = text[: limit - 1] + "…"
    if text.isascii() and text.isprintable():
        return text
    return "".join(_printable(character) for character in text)


def _printable(character: str) -> str:
    if character in "\n\t\r":
        return " "
    return "\ufffd" if unicodedata.category(character) in _UNPRINTABLE else character


def clean_all(value: Any, depth: int = 8) -> Any:
    """The same JSON value with every string in it cleaned, names included."""
    if isinstance(value, str):
        return clean(value)
    if depth == 0:
        return "…" if isinstance(value, (dict, list)) else value
    if isinstance(value, dict):
        return {clean(name): clean_all(inner, depth - 1) for name, inner in value.items()}
    if isinstance(value, list):
        return [clean_all(inner, depth - 1) for inner in value]
    return value


def whole(value: object) -> int | None:
    """An integer if the value is a number that has one."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return int(value)


def natural(name: str) -> tuple[tuple[int, int, str], ...]:
    """Sort key under which b2 comes before b10."""
    parts = re.findall(r"[0-9]{1,18}|[^0-9]+|[0-9]+", name)
    return tuple((0, int(part), "") if part.isdecimal() and len(part) <= 18 else (1, 0, part) for part in parts)


def count(number: float) -> str:
    return f"{int(number):,}"


def plural(number: int, noun: str, several: str | None = None) -> str:
    return f"{count(number)} {noun if number == 1 else several or noun + 's'}"


def duration(ns: float) -> str:
    """Three significant digits in the unit that suits."""
    if ns < 0:
        return "−" + duration(-ns)
    if ns == 0:
        return "0 ms"
    for unit, size in (("ns", 1), ("µs", 1_000), ("ms", 1_000_000)):
        if float(f"{ns / size:.3g}") < 1000:
            return f"{_significant(ns / size)} {unit}"
    seconds = ns / NS_PER_S
    if seconds < 120:
        return f"{_significant(seconds)} s"
    minutes, rest_s = divmod(round(seconds), 60)
    if minutes < 120:
        return f"{minutes} min {rest_s} s" if rest_s else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def offset(ns: float) -> str:
    """A moment of the run, counted from its start."""
    sign = "−" if ns < 0 else ""
    seconds = abs(ns) / NS_PER_S
    if seconds < 600:
        return f"{sign}{seconds:.2f} s"
    minutes, rest_s = divmod(seconds, 60)
    return f"{sign}{int(minutes)}:{rest_s:04.1f} min"


def volume(size: float) -> str:
    for unit, bytes_each in (("B", 1), ("kB", 1_000), ("MB", 1_000_000)):
        if float(f"{size / bytes_each:.3g}") < 1000:
            return f"{_significant(size / bytes_each)} {unit}"
    return f"{_significant(size / 1_000_000_000)} GB"


def _significant(value: float) -> str:
    if value >= 100:
        return f"{value:.0f}"
    return f"{value:.3g}"
