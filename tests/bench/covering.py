"""Who covers a filter, and whom it covers: our index beside its naive twin, which asks everyone."""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle

from node.core.filters import Filter, parse
from node.core.matching.covering import CoveringIndex
from node.core.matching.naive_covering import NaiveCovering
from tests.bench import patterns, world
from tests.bench.measure import Effort, Figure, Say, Section, per_second, race

CHECKED = 5
COUNTS = 2
"""The smallest number of filters says little."""


def measure(effort: Effort, say: Say) -> Section:
    counts = effort.filters[-COUNTS:]
    figures = []
    for lang, texts in (("attr", world.texts(counts[-1])), ("xpath", patterns.texts(counts[-1]))):
        filters = [parse(text, lang) for text in texts]
        for count in counts:
            say(f"covering: {count:,} filters, {lang}")
            figures += _figures(f"{count:,} filters, {lang}", list(dict.fromkeys(filters[:count])), effort)
    return Section("Covering, asked about filters that are there", figures)


def _figures(what: str, filters: list[Filter], effort: Effort) -> list[Figure]:
    naive, ours = NaiveCovering(), CoveringIndex()
    for filter in filters:
        naive.add(filter)
        ours.add(filter)
    for filter in filters[:CHECKED]:
        assert ours.coverers(filter) == naive.coverers(filter)
        assert ours.covered(filter) == naive.covered(filter)
    queries = {
        "coverers, naive": naive.coverers,
        "coverers, ours": ours.coverers,
        "covered, naive": naive.covered,
        "covered, ours": ours.covered,
    }
    best = race({name: per_second(_asking(ask, filters), effort.run_s) for name, ask in queries.items()}, effort)
    return [
        Figure(f"{what}, {name}", rate, "queries/s", best[f"{name.split(',')[0]}, naive"] if "ours" in name else None)
        for name, rate in best.items()
    ]


def _asking(ask: Callable[[Filter], list[Filter]], filters: list[Filter]) -> Callable[[], int]:
    turns = cycle(filters)

    def work() -> int:
        ask(next(turns))
        return 1

    return work
