"""How much of what is published is wanted: counted with the brokers' own index, over a sample where all is too much."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import TypeVar

from msgspec import Struct

from controller.progress import Progress
from controller.workloads.plans import Plan, Publish, Subscribe
from node.core.filters import parse
from node.core.matching.index import FilterIndex

T = TypeVar("T")

SUBSCRIPTIONS_MAX = 20_000
PUBLICATIONS_MAX = 500
EDGES = (0.0, 0.001, 0.01, 0.05, 0.2, 0.5, 1.0)
"""Upper ends of the classes of filters, by the share of publications they match."""


class Selectivity(Struct, frozen=True):
    subscriptions: int
    of_subscriptions: int
    publications: int
    of_publications: int
    share: float
    """Of all pairs of a subscription and a publication."""
    quantiles: tuple[float, ...]
    """Of subscriptions by the share of publications they match: least, lower quarter, middle, upper quarter, most."""
    wanted_by: tuple[int, ...]
    """Of publications by the number of subscriptions that match them, likewise."""
    classes: tuple[int, ...]
    """How many subscriptions match nothing, at most a thousandth, … of the publications; see EDGES."""

    @property
    def is_sample(self) -> bool:
        return (self.subscriptions, self.publications) != (self.of_subscriptions, self.of_publications)


def selectivity(plan: Plan, progress: Progress) -> Selectivity | None:
    """Of what is subscribed before the load, on what is published during load; None where there is nothing to count."""
    asked = [one for one in plan.operations if isinstance(one, Subscribe) and one.phase == "warm"]
    said = [one for one in plan.operations if isinstance(one, Publish) and one.phase == "load"]
    if not asked or not said:
        return None
    subscriptions, publications = sample(asked, SUBSCRIPTIONS_MAX), sample(said, PUBLICATIONS_MAX)
    index: FilterIndex[str] = FilterIndex()
    hits = Counter({one.sub: 0 for one in subscriptions})
    wanted_by = []
    with progress.bar("matching", len(subscriptions) + len(publications)) as bar:
        for number, one in enumerate(subscriptions, 1):
            index.add(one.sub, parse(one.filter, one.lang))
            bar.to(number)
        for number, published in enumerate(publications, len(subscriptions) + 1):
            found = index.match(published.content, published.lang)
            hits.update(found)
            wanted_by.append(len(found))
            bar.to(number)
    shares = sorted(count / len(publications) for count in hits.values())
    return Selectivity(
        len(subscriptions),
        len(asked),
        len(publications),
        len(said),
        sum(shares) / len(shares),
        tuple(quantiles(shares)),
        tuple(quantiles(sorted(wanted_by))),
        _classes(shares),
    )


def sample(items: list[T], most: int) -> list[T]:
    """In their order; the same ones every time."""
    if len(items) <= most:
        return items
    chosen = sorted(Random(len(items)).sample(range(len(items)), most))
    return [items[place] for place in chosen]


def quantiles(in_order: list[T]) -> list[T]:
    return [in_order[round(part * (len(in_order) - 1))] for part in (0, 0.25, 0.5, 0.75, 1)]


def _classes(shares: list[float]) -> tuple[int, ...]:
    counted = Counter(next(place for place, edge in enumerate(EDGES) if share <= edge) for share in shares)
    return tuple(counted[place] for place in range(len(EDGES)))
