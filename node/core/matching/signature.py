"""What a filter asks of those it covers, as tokens: a cheap necessary condition for covering.

A part of a filter (a conjunction, a pattern) can cover another part only if the other offers every token that it needs.
A filter of several parts covers another only if each part of the other is covered by one of its own parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from node.core.filters import Filter
from node.core.filters.attr.conjunction import Conjunction, ValueSet
from node.core.filters.attr.filter import AttrFilter
from node.core.filters.attr.numbers import NumberSet
from node.core.filters.xpath import shape
from node.core.filters.xpath.filter import XPathFilter
from node.core.filters.xpath.pattern import Step
from node.core.filters.xpath.syntax import ANY

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


def _xpath(filter: Filter) -> tuple[Signature, ...]:
    assert isinstance(filter, XPathFilter)
    if filter.pattern is None:
        return ()
    tokens = tuple(dict.fromkeys(_pattern_tokens(filter.pattern)))
    # What a pattern needs of the one it is laid onto is what it offers itself. The mask knows more than the tokens.
    mask = shape.signature(filter.pattern)
    return (Signature(tokens, tokens, mask, mask),)


def _pattern_tokens(top: Step) -> Iterator[Token]:
    if not top.is_deep and top.name != ANY:
        yield ("/", top.name)
    for step in top.steps():
        if step.name != ANY:
            yield (step.name,)
            for child in step.children:
                if not child.is_deep and child.name != ANY:
                    yield (step.name, "/", child.name)
        for name, value in step.attributes:
            yield ("@", name)
            if value is not None:
                yield ("@", name, value)
        if step.value is not None:
            yield (".", step.value)


_READERS: dict[str, Callable[[Filter], tuple[Signature, ...]]] = {"attr": _attr, "xpath": _xpath}
