"""Our index over attribute filters beside its naive twin and other ways: speed, memory, the cost of add and remove."""

from __future__ import annotations

import gc
import time
import tracemalloc
from collections.abc import Callable, Sequence
from functools import partial

from node.core.filters.attr.filter import AttrFilter, attr_filter
from node.core.matching import Matcher
from node.core.matching.index import FilterIndex
from node.core.matching.naive import NaiveMatcher
from tests.bench import world
from tests.bench.matching import over
from tests.bench.measure import Effort, Figure, Say, Section, per_second, race
from tests.bench.references import REFERENCES
from tests.bench.world import Attributes

# Making the rows of many filters takes long, and so does asking them one by one.
CONTENTS = 200
CONTENTS_IF_MANY = 40
MANY = 50_000
CHECKED = 10
REMOVED_MAX = 5_000


def measure(effort: Effort, say: Say) -> Section:
    return _section("mixed", effort, say)


def measure_equality(effort: Effort, say: Say) -> Section:
    return _section("equality", effort, say)


def _section(workload: str, effort: Effort, say: Say) -> Section:
    say(f"{workload}: making {effort.many[-1]:,} filters")
    texts = world.texts(effort.many[-1], only_equality=workload == "equality")
    filters = [attr_filter(text) for text in texts]
    figures = []
    for count in effort.many:
        figures += _figures(workload, filters[:count], effort, say)
    return Section(f"Matching, {workload}: about 10 attributes a message, 2-8 constraints a filter", figures)


def _figures(workload: str, filters: list[AttrFilter], effort: Effort, say: Say) -> list[Figure]:
    count = f"{len(filters):,} filters"
    contents = world.contents(CONTENTS_IF_MANY if len(filters) > MANY else CONTENTS)
    say(f"{workload}: {count}, ours and naive")
    naive_add_us, naive = _build(NaiveMatcher, filters)
    add_us, ours = _build(FilterIndex, filters)
    contestants: dict[str, Callable[[Attributes], object]] = {
        "naive matcher": partial(naive.match, lang="attr"),
        "ours, warm": partial(ours.match, lang="attr"),
    }
    expected = [naive.match(content, "attr") for content in contents[:CHECKED]]
    cold, found = _once(partial(ours.match, lang="attr"), contents)
    assert found[:CHECKED] == expected
    for name, make in REFERENCES.items():
        say(f"{workload}: {count}, {name}")
        contestants[name] = match = make(filters)
        assert [match(content) for content in contents[:CHECKED]] == expected
        if name.endswith("warm"):
            _once(match, contents)
    best = race({name: per_second(over(contents, match), effort.run_s) for name, match in contestants.items()}, effort)
    del contestants, match
    bar = best["naive matcher"]
    naive_remove_us, remove_us = _remove(naive, len(filters)), _remove(ours, len(filters))
    del naive, ours
    say(f"{workload}: {count}, memory")
    naive_bytes, our_bytes = _bytes_each(NaiveMatcher, filters), _bytes_each(FilterIndex, filters)
    return [
        Figure(f"{count}, naive matcher", bar, "messages/s"),
        *(Figure(f"{count}, {name}", best[name], "messages/s", bar) for name in REFERENCES),
        Figure(f"{count}, ours, contents never seen", cold, "messages/s", bar),
        Figure(f"{count}, ours, warm", best["ours, warm"], "messages/s", bar),
        Figure(f"{count}, add, naive", naive_add_us, "µs"),
        Figure(f"{count}, add, ours, what the next match does for it included", add_us, "µs", naive_add_us),
        Figure(f"{count}, remove, naive", naive_remove_us, "µs"),
        Figure(f"{count}, remove, ours, what the next match does for it included", remove_us, "µs", naive_remove_us),
        Figure(f"{count}, memory beside the filters, naive", naive_bytes, "bytes/filter"),
        Figure(f"{count}, memory beside the filters, ours", our_bytes, "bytes/filter", naive_bytes),
    ]


def _build(kind: Callable[[], Matcher[int]], filters: Sequence[AttrFilter]) -> tuple[float, Matcher[int]]:
    """Microseconds for each add; and the matcher."""
    started_at = time.thread_time_ns()
    matcher = kind()
    for key, filter in enumerate(filters):
        matcher.add(key, filter)
    added_at = time.thread_time_ns()
    if kind is not NaiveMatcher:
        matcher.match({}, "attr")
        added_at = time.thread_time_ns()
    return (added_at - started_at) / len(filters) / 1e3, matcher


def _remove(matcher: Matcher[int], count: int) -> float:
    """Microseconds for each remove of up to a tenth of the filters."""
    keys = range(0, count, max(10, count // REMOVED_MAX))
    started_at = time.thread_time_ns()
    for key in keys:
        matcher.remove(key)
    if not isinstance(matcher, NaiveMatcher):
        matcher.match({}, "attr")
    return (time.thread_time_ns() - started_at) / len(keys) / 1e3


def _once(match: Callable[[Attributes], list[int]], contents: list[Attributes]) -> tuple[float, list[list[int]]]:
    """Messages a second, and what matched."""
    started_at = time.thread_time_ns()
    found = [match(content) for content in contents]
    return len(contents) / (time.thread_time_ns() - started_at) * 1e9, found


def _bytes_each(kind: Callable[[], Matcher[int]], filters: Sequence[AttrFilter]) -> float:
    gc.collect()
    tracemalloc.start()
    _, matcher = _build(kind, filters)
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del matcher
    return taken / len(filters)
