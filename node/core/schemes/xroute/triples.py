"""What brokers tell each other about subscriptions: triples (S; n; r), applied as one step."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from msgspec import Struct

from node.core.filters import Filter, parse
from node.core.messages import Body
from node.core.records import Lang


class Triple(NamedTuple):
    """`n` more instances of the filter, and `r` more of others that it stands for."""

    filter: Filter
    n: int
    r: int


class WireTriple(Struct, frozen=True, array_like=True):
    filter: str
    lang: Lang
    n: int
    r: int


# No subscription is called that.
ROWS = "\0rows"


class _Triples(Body, frozen=True, kw_only=True):
    triples: tuple[WireTriple, ...] = ()

    @property
    def entries(self) -> int:
        return len(self.triples)

    @property
    def texts(self) -> tuple[tuple[str, Lang], ...]:
        return tuple((each.filter, each.lang) for each in self.triples)

    def parsed(self) -> list[Triple]:
        return [Triple(parse(each.filter, each.lang), each.n, each.r) for each in self.triples]


class Update(_Triples, frozen=True, tag="update"):
    """Differences. `sub` is the subscription whose coming or going set this off."""

    sub: str | None = None

    @property
    def subject(self) -> tuple[str | None, str | None]:
        return self.sub, None

    @property
    def brings(self) -> tuple[str, ...]:
        return () if self.sub is None else (self.sub,)


class Rows(_Triples, frozen=True, tag="rows"):
    """What the receiver's interface holds from now on: all of it, or the named rows; n = 0 removes a row."""

    complete: bool = True

    @property
    def brings(self) -> tuple[str, ...]:
        return (ROWS,)


def wired(triples: Iterable[Triple]) -> tuple[WireTriple, ...]:
    return tuple(WireTriple(str(each.filter), each.filter.lang, each.n, each.r) for each in triples)
