"""Sets of strings: a range in code point order, a suffix, parts that must occur, and missing members.

A prefix is a range: `prefix "ab"` is `>= "ab"` and `< "ac"`. The string right after s is s + NUL, so a range is told
by its first member and the first string beyond it. What makes this exact is that code points are plenty: between the
fixed pieces of a string some other character can always stand.

Normal form of a set with infinitely many members:
* `suffix` is the longest common suffix; no part lies in it, in another part or in the longest common prefix;
* `low` is the first member if there is one. Otherwise members come arbitrarily near to low NUL NUL NUL …, and `low`
  has no more NULs at its end than are needed to keep smaller strings out;
* `high` is the least upper bound, outside; it ends in NUL only if the string right before it is a member;
* `holes` are strings that would be members without being named.
A finite set (low, low NUL, low NUL NUL …) needs no suffix and no parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

NUL = "\0"
LAST = "\U0010ffff"


@dataclass(frozen=True, slots=True)
class StringSet:
    low: str
    high: str | None
    suffix: str
    parts: tuple[str, ...]
    holes: tuple[str, ...]
    has_first: bool = field(compare=False)
    common_prefix: str = field(compare=False)

    def __contains__(self, text: str) -> bool:
        return (
            self.low <= text
            and (self.high is None or text < self.high)
            and _fits(text, self.suffix, self.parts)
            and text not in self.holes
        )

    @property
    def is_single(self) -> bool:
        return self.high == self.low + NUL

    def covers(self, other: StringSet) -> bool:
        return (
            self._bounds(other)
            and other._always_ends_with(self.suffix)
            and all(other._always_has(part) for part in self.parts)
            and not any(hole in other for hole in self.holes)
        )

    def meets(self, other: StringSet) -> bool:
        highs = [high for high in (self.high, other.high) if high is not None]
        common = _normal(
            max(self.low, other.low),
            min(highs, default=None),
            (self.suffix, other.suffix),
            (*self.parts, *other.parts),
            (*self.holes, *other.holes),
        )
        return common is not None

    def union(self, other: StringSet) -> StringSet | None:
        """Exactly the members of both; None if that is no such set, or not seen to be one."""
        if (self.suffix, self.parts) != (other.suffix, other.parts):
            return None
        below, beyond = (self, other) if self.low <= other.low else (other, self)
        holes = [hole for hole in self.holes if hole not in other] + [hole for hole in other.holes if hole not in self]
        if below.high is not None and below.high < beyond.low:
            if beyond.low != below.high + NUL:
                return None
            holes.append(below.high)
        highs = (below.high, beyond.high)
        high = None if None in highs else max(each for each in highs if each is not None)
        return _normal(below.low, high, (self.suffix,), self.parts, holes)

    def terms(self) -> list[tuple[str, str]]:
        if self.is_single:
            return [("=", self.low)]
        terms = self._range_terms()
        if self.suffix:
            terms.append(("suffix", self.suffix))
        terms.extend(("contains", part) for part in self.parts)
        terms.extend(("!=", hole) for hole in self.holes)
        return terms or [(">=", "")]

    def test(self) -> Callable[[object], bool]:
        terms = self.terms()
        if len(terms) == 1:
            return _single_test(*terms[0])
        if len(terms) == len(self.holes):
            holes = frozenset(self.holes)
            return lambda value: type(value) is str and value not in holes
        return lambda value: type(value) is str and value in self

    def _range_terms(self) -> list[tuple[str, str]]:
        if self.low and self.high == _beyond_prefix(self.low):
            return [("prefix", self.low)]
        terms = []
        if self.low:
            terms.append((">", self.low[:-1]) if self.low.endswith(NUL) else (">=", self.low))
        if self.high is not None:
            terms.append(("<=", self.high[:-1]) if self.high.endswith(NUL) else ("<", self.high))
        return terms

    def _bounds(self, other: StringSet) -> bool:
        if self.high is not None and (other.high is None or other.high > self.high):
            return False
        return (other.low if other.has_first else other.low.ljust(len(self.low), NUL)) >= self.low

    def _always_ends_with(self, suffix: str) -> bool:
        if self.high is not None and _is_finite(self.low, self.high):
            return self.low.endswith(suffix) and self.high[:-1].endswith(suffix)
        return self.suffix.endswith(suffix)

    def _always_has(self, part: str) -> bool:
        return part in self.common_prefix or part in self.suffix or any(part in own for own in self.parts)


def string_set(terms: Iterable[tuple[str, str]]) -> StringSet | None:
    """The strings that satisfy all the terms (operator, value); none if there is no such string."""
    low = ""
    highs: list[str] = []
    listed: dict[str, list[str]] = {"suffix": [], "contains": [], "!=": []}
    for operator, value in terms:
        if operator in listed:
            listed[operator].append(value)
        if operator in ("=", ">=", "prefix"):
            low = max(low, value)
        if operator == ">":
            low = max(low, value + NUL)
        if operator in ("=", "<="):
            highs.append(value + NUL)
        if operator == "<":
            highs.append(value)
        if operator == "prefix":
            beyond = _beyond_prefix(value)
            highs.extend([] if beyond is None else [beyond])
    return _normal(low, min(highs, default=None), listed["suffix"], listed["contains"], listed["!="])


def _normal(
    low: str, high: str | None, suffixes: Sequence[str], parts: Iterable[str], holes: Iterable[str]
) -> StringSet | None:
    suffix = max(suffixes, key=len, default="")
    if not all(suffix.endswith(each) for each in suffixes):
        return None
    parts = _longest(parts, suffix)
    missing = frozenset(holes)
    high = _last_needed(high, suffix, parts, missing)
    first, low = _first(low, suffix, parts, missing)
    if high is not None and low >= high:
        return None
    has_first = first is not None
    common_prefix = _common_prefix(low, high, has_first)
    if high is not None and _is_finite(low, high):
        suffix, parts = "", ()
    else:
        if not has_first:
            # Beyond all NULs that a part or the prefix may speak of, so that the parts dropped next change nothing.
            low = low.ljust(len(common_prefix), NUL) + NUL * (1 + _nuls_max(suffix, parts))
        parts = tuple(part for part in parts if part not in common_prefix)
        if not has_first:
            while low.endswith(NUL) and not _fits(low[:-1], suffix, parts):
                low = low[:-1]
    kept = (hole for hole in missing if low < hole and (high is None or hole < high) and _fits(hole, suffix, parts))
    return StringSet(low, high, suffix, parts, tuple(sorted(kept)), has_first, common_prefix)


def _fits(text: str, suffix: str, parts: Iterable[str]) -> bool:
    return text.endswith(suffix) and all(part in text for part in parts)


def _longest(parts: Iterable[str], suffix: str) -> tuple[str, ...]:
    kept: list[str] = []
    for part in sorted(set(parts), key=lambda part: (-len(part), part)):
        if part not in suffix and not any(part in longer for longer in kept):
            kept.append(part)
    return tuple(sorted(kept))


def _nuls_max(suffix: str, parts: Iterable[str]) -> int:
    return max(len(text) - len(text.rstrip(NUL)) for text in (suffix, *parts))


def _first(low: str, suffix: str, parts: tuple[str, ...], missing: frozenset[str]) -> tuple[str | None, str]:
    """The first member from `low` on, if there is one, and where to begin.

    A first member is low, low NUL, …: anything else has a smaller member, with more NULs put in. If none of these
    fits by the time low has got as many NULs as a suffix or part ends in, none ever will.
    """
    nuls_max = _nuls_max(suffix, parts)
    while True:
        candidates = (low + NUL * count for count in range(nuls_max + 1))
        first = next((text for text in candidates if _fits(text, suffix, parts)), None)
        if first is None:
            return None, low
        if first not in missing:
            return first, first
        low = first + NUL


def _last_needed(high: str | None, suffix: str, parts: tuple[str, ...], missing: frozenset[str]) -> str | None:
    while high is not None and high.endswith(NUL):
        before = high[:-1]
        if before not in missing and _fits(before, suffix, parts):
            break
        high = before
    return high


def _common_prefix(low: str, high: str | None, has_first: bool) -> str:
    length = max(len(low), len(high or "")) + 1
    lowest = low if has_first else low.ljust(length, NUL)
    if high is None:
        highest = LAST * length
    elif high.endswith(NUL):
        highest = high[:-1]
    else:
        highest = (high[:-1] + _code_point_before(high[-1])).ljust(length, LAST)
    count = 0
    for one, other in zip(lowest, highest, strict=False):
        if one != other:
            break
        count += 1
    return lowest[:count]


def _is_finite(low: str, high: str) -> bool:
    return high.startswith(low) and not high[len(low) :].strip(NUL)


def _beyond_prefix(prefix: str) -> str | None:
    """The first string after all that begin with `prefix`; none if nothing comes after them."""
    stem = prefix.rstrip(LAST)
    return stem[:-1] + _code_point_after(stem[-1]) if stem else None


def _code_point_after(char: str) -> str:
    return "\ue000" if char == "\ud7ff" else chr(ord(char) + 1)


def _code_point_before(char: str) -> str:
    return "\ud7ff" if char == "\ue000" else chr(ord(char) - 1)


def _single_test(operator: str, operand: str) -> Callable[[object], bool]:
    tests: dict[str, Callable[[object], bool]] = {
        "=": lambda value: value == operand,
        "!=": lambda value: type(value) is str and value != operand,
        "<": lambda value: type(value) is str and value < operand,
        "<=": lambda value: type(value) is str and value <= operand,
        ">": lambda value: type(value) is str and value > operand,
        ">=": lambda value: type(value) is str and value >= operand,
        "prefix": lambda value: type(value) is str and value.startswith(operand),
        "suffix": lambda value: type(value) is str and value.endswith(operand),
        "contains": lambda value: type(value) is str and operand in value,
    }
    return tests[operator]
