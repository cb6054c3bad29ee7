"""How many filters are different, how many of those are covered by others, and how deep that goes."""

from __future__ import annotations

from msgspec import Struct

from controller.progress import Progress
from controller.workloads.plans import Plan, Subscribe
from controller.workloads.survey.matching import sample
from node.core.filters import Filter, parse
from node.core.matching.covering import CoveringIndex

FILTERS_MAX = 2_000


class Covering(Struct, frozen=True):
    subscriptions: int
    distinct: int
    """Filters that mean different things, in normal form."""
    looked_at: int
    """So many of them; a sample says less than there is to say about chains."""
    covered: int
    """By at least one other."""
    depth: int
    """The longest chain of filters, each covering the next."""
    chain: tuple[str, ...]
    """One that long, the widest first."""
    widest: str
    """The filter that covers most."""
    width: int
    """How many it covers."""

    @property
    def is_sample(self) -> bool:
        return self.looked_at < self.distinct


def covering(plan: Plan, progress: Progress) -> Covering | None:
    """Of what is subscribed before the load."""
    asked = [one for one in plan.operations if isinstance(one, Subscribe) and one.phase == "warm"]
    distinct = list(dict.fromkeys(parse(one.filter, one.lang) for one in asked))
    if not distinct:
        return None
    chosen = sample(distinct, FILTERS_MAX)
    above = _coverers(chosen, progress)
    below: dict[Filter, int] = dict.fromkeys(chosen, 0)
    for coverers in above.values():
        for one in coverers:
            below[one] += 1
    chain = _longest(above)
    widest = max(chosen, key=lambda one: below[one])
    return Covering(
        len(asked),
        len(distinct),
        len(chosen),
        sum(bool(coverers) for coverers in above.values()),
        len(chain),
        tuple(str(one) for one in chain),
        str(widest),
        below[widest],
    )


def _coverers(filters: list[Filter], progress: Progress) -> dict[Filter, list[Filter]]:
    index = CoveringIndex()
    for one in filters:
        index.add(one)
    found = {}
    with progress.bar("covering", len(filters)) as bar:
        for number, one in enumerate(filters, 1):
            found[one] = index.coverers(one)
            bar.to(number)
    return found


def _longest(above: dict[Filter, list[Filter]]) -> list[Filter]:
    """Who covers a filter is covered by fewer: in that order every coverer's own chain is known."""
    best: dict[Filter, Filter | None] = {}
    length: dict[Filter, int] = {}
    for one in sorted(above, key=lambda one: len(above[one])):
        # Two that mean the same without being equal cover each other: neither stands above the other.
        strict = [other for other in above[one] if len(above[other]) < len(above[one])]
        best[one] = max(strict, key=lambda other: length[other], default=None)
        coverer = best[one]
        length[one] = 1 + (length[coverer] if coverer is not None else 0)
    last: Filter | None = max(length, key=lambda one: length[one])
    chain = []
    while last is not None:
        chain.append(last)
        last = best[last]
    return chain[::-1]
