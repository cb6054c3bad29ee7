"""What a filter asks of those it covers, as tokens: a cheap necessary condition for covering.

A part of a filter (a conjunction, a pattern) can cover another part only if the other offers every token that it needs.
A filter of several parts covers another only if each part of the other is covered by one of its own parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import NamedTuple

from node.core.filters import Filter
from node.core.filters.attr.conjunction import Conjunction, ValueSet
from node.core.filters.attr.filter import AttrFilter
from node.core.filters.attr.numbers import NumberSet

# Names and values as tuples of strings and numbers; what is inside concerns only the function that made it.
Token = tuple[str | int | float, ...]

_CACHED_MAX = 1 << 14
_MASK_BITS = 256


class Signature(NamedTuple):
    needs: tuple[Token, ...]
    offers: tuple[Token, ...]
    needs_mask: int
    """One bit per token by its hash: a bit that is missing on the other side rules covering out."""
    offers_mask: int


def _signature(needs: Iterable[Token], offers: Iterable[Token]) -> Signature:
    needed, offered = tuple(dict.fromkeys(needs)), tuple(dict.fromkeys(offers))
    return Signature(needed, offered, _mask(needed), _mask(offered))


def _mask(tokens: Iterable[Token]) -> int:
    mask = 0
    for token in tokens:
        mask |= 1 << hash(token) % _MASK_BITS
    return mask


@lru_cache(maxsize=_CACHED_MAX)
def signatures(filter: Filter) -> tuple[Signature, ...]:
    """One for each part. A filter without parts matches nothing, so every filter of its language covers it.

    Of a language that is not known here nothing is asked, so that nobody is ruled out.
    """
    read = _READERS.get(filter.lang)
    return (_signature((), ()),) if read is None else read(filter)


def _attr(filter: Filter) -> tuple[Signature, ...]:
    assert isinstance(filter, AttrFilter)
    return tuple(_of_conjunction(each) for each in filter.conjunctions)


def _of_conjunction(conjunction: Conjunction) -> Signature:
    needs: list[Token] = []
    offers: list[Token] = []
    for name, values in conjunction.sets.items():
        tokens = _value_tokens(name, values)
        needs.append(tokens[-1])
        offers.extend(tokens)
    return _signature(needs, offers)


def _value_tokens(name: str, values: ValueSet) -> list[Token]:
    """From the vaguest to the most exact; a set that covers this one needs none but these."""
    tokens: list[Token] = [(name,)]
    if isinstance(values, bool):
        tokens.append((name, "boolean", int(values)))
    elif values is not None:
        kind = "number" if isinstance(values, NumberSet) else "string"
        tokens.append((name, kind))
        if values.is_single:
            tokens.append((name, kind, values.low))
    return tokens


_READERS: dict[str, Callable[[Filter], tuple[Signature, ...]]] = {"attr": _attr}
