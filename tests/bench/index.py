"""Our index over attribute filters beside its naive twin and other ways: speed, memory, the cost of add and remove."""

from __future__ import annotations

import gc
import time
import tracemalloc
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count as count_from
from typing import Any

from node.core.filters.attr.filter import AttrFilter, attr_filter
from node.core.matching import Matcher
from node.core.matching.index import FilterIndex
from node.core.matching.naive import NaiveMatcher
from tests.bench import world
from tests.bench.matching import over
from tests.bench.measure import Effort, Figure, Say, Section, per_second, race
from tests.bench.references import REFERENCES
from tests.bench.world import Attributes

# Contents that come again and again; and of each pass over contents that were never seen before.
WARM = 200
UNSEEN = 100
# Making the rows of many filters takes long, and so does asking them one by one.
WARM_IF_MANY = UNSEEN_IF_MANY = 40
MANY = 50_000
CHECKED = 5
REMOVED_MAX = 5_000
TURNS = 1_000
NAIVE = "naive twin"
OURS = "ours"

Match = Callable[[Attributes], list[Any]]


def measure(effort: Effort, say: Say) -> Section:
    return _section("mixed", effort, say)


def measure_equality(effort: Effort, say: Say) -> Section:
    return _section("equality", effort, say)


def _section(workload: str, effort: Effort, say: Say) -> Section:
    say(f"{workload}: making {effort.many[-1]:,} filters")
    texts = world.texts(effort.many[-1], only_equality=workload == "equality")
    # Different ones, so that each has one key and the order of keys is that of filters.
    filters = list(dict.fromkeys(map(attr_filter, texts)))
    figures = []
    for count in effort.many:
        figures += Table(workload, f"{count:,} filters", filters[:count], effort, say).figures()
    return Section(f"Matching, {workload}: about 10 attributes a message, 2-8 constraints a filter", figures)


class Table:
    """One number of filters, and everybody who can match them."""

    def __init__(self, workload: str, title: str, filters: Sequence[AttrFilter], effort: Effort, say: Say) -> None:
        self._title = title
        self._filters = filters
        self._keys = [f"s{nth}" for nth in range(len(filters))]
        self._effort = effort
        self._say = lambda what: say(f"{workload}: {title}, {what}")
        self._has_many = len(filters) > MANY
        self._warm = world.contents(WARM_IF_MANY if self._has_many else WARM)

    def figures(self) -> list[Figure]:
        matches, forgets = {}, {}
        for name, kind in REFERENCES.items():
            self._say(f"making {name}")
            reference = kind(self._filters, self._keys)
            matches[name], forgets[name] = reference.match, reference.forget
        self._say("making naive and ours")
        naive_add_us, naive = self._build(NaiveMatcher)
        add_us, ours = self._build(FilterIndex)
        matches |= {NAIVE: partial(naive.match, lang="attr"), OURS: partial(ours.match, lang="attr")}
        self._say("contents never seen")
        unseen = self._unseen({name: matches[name] for name in REFERENCES}, forgets)
        self._say("contents seen before")
        self._check(matches)
        warm = race({name: self._repeated(match) for name, match in matches.items()}, self._effort)
        del matches, forgets, reference
        self._say("changes")
        turn_us, worst_us = self._turns(ours)
        naive_remove_us, remove_us = self._remove(naive), self._remove(ours)
        del naive, ours
        self._say("memory")
        naive_bytes, our_bytes = self._bytes_each(NaiveMatcher), self._bytes_each(FilterIndex)
        bar = warm[NAIVE]
        return [
            self._figure(NAIVE, bar, "messages/s"),
            *(self._figure(f"never seen, {name}", rate, "messages/s", bar) for name, rate in unseen.items()),
            self._beside_best("never seen", unseen),
            *(
                self._figure(f"seen before, {name}", rate, "messages/s", bar)
                for name, rate in warm.items()
                if name != NAIVE
            ),
            self._beside_best("seen before", warm),
            self._figure("add, naive", naive_add_us, "µs"),
            self._figure("add, ours, with what the next match does for it", add_us, "µs", naive_add_us),
            self._figure("remove, naive", naive_remove_us, "µs"),
            self._figure("remove, ours, with what the next match does for it", remove_us, "µs", naive_remove_us),
            self._figure("match, naive", 1e6 / bar, "µs"),
            self._figure("remove one, add it again, match, ours", turn_us, "µs", 1e6 / bar),
            self._figure("the longest of these", worst_us, "µs", 1e6 / bar),
            self._figure("memory beside the filters, naive", naive_bytes, "bytes/filter"),
            self._figure("memory beside the filters, ours, rows kept", our_bytes, "bytes/filter", naive_bytes),
        ]

    def _figure(self, what: str, value: float, unit: str, baseline: float | None = None) -> Figure:
        return Figure(f"{self._title}, {what}", value, unit, baseline)

    def _beside_best(self, what: str, rates: dict[str, float]) -> Figure:
        others = {name: rate for name, rate in rates.items() if name in REFERENCES and "positions" not in name}
        best = max(others, key=others.__getitem__)
        return self._figure(f"{what}, ours beside the best, {best}", rates[OURS], "messages/s", others[best])

    def _check(self, matches: dict[str, Match]) -> None:
        """Everybody says the same, and has seen what comes again and again."""
        for content in self._warm[:CHECKED]:
            expected = matches[NAIVE](content)
            for name, match in matches.items():
                assert "positions" in name or match(content) == expected, name
        for name, match in matches.items():
            if name != NAIVE:
                for content in self._warm:
                    match(content)

    def _unseen(self, matches: dict[str, Match], forgets: dict[str, Callable[[], None]]) -> dict[str, float]:
        """Messages a second of tables that have forgotten what they saw; of ours, of one that has just been made."""
        best = dict.fromkeys((*matches, OURS), 0.0)
        for nth in range(self._effort.repetitions):
            for name, match in matches.items():
                forgets[name]()
                best[name] = max(best[name], self._pass(match, nth))
            _, ours = self._build(FilterIndex)
            best[OURS] = max(best[OURS], self._pass(partial(ours.match, lang="attr"), nth))
        return best

    def _repeated(self, match: Match) -> Callable[[], float]:
        return per_second(over(self._warm, match), self._effort.run_s)

    def _pass(self, match: Match, nth: int) -> float:
        """Messages a second, each of them once."""
        contents = world.contents(UNSEEN_IF_MANY if self._has_many else UNSEEN, seed=100 + nth)
        started_at = time.thread_time_ns()
        for content in contents:
            match(content)
        return len(contents) / (time.thread_time_ns() - started_at) * 1e9

    def _build(self, kind: Callable[[], Matcher[str]]) -> tuple[float, Matcher[str]]:
        """Microseconds for each add; and the matcher."""
        started_at = time.thread_time_ns()
        matcher = kind()
        for key, filter in zip(self._keys, self._filters, strict=True):
            matcher.add(key, filter)
        if kind is not NaiveMatcher:
            matcher.match({}, "attr")
        return (time.thread_time_ns() - started_at) / len(self._filters) / 1e3, matcher

    def _remove(self, matcher: Matcher[str]) -> float:
        """Microseconds for each remove of up to a tenth of the filters."""
        keys = self._keys[:: max(10, len(self._keys) // REMOVED_MAX)]
        started_at = time.thread_time_ns()
        for key in keys:
            matcher.remove(key)
        if not isinstance(matcher, NaiveMatcher):
            matcher.match({}, "attr")
        return (time.thread_time_ns() - started_at) / len(keys) / 1e3

    def _turns(self, matcher: Matcher[str]) -> tuple[float, float]:
        """A table that changes as often as it is asked: microseconds for a turn, and for the longest.

        It ends with the keys that it began with.
        """
        longest = total = 0
        turns = min(TURNS, len(self._keys))
        for nth, key, filter in zip(count_from(), self._keys, self._filters[:turns], strict=False):
            content = self._warm[nth % len(self._warm)]
            started_at = time.thread_time_ns()
            matcher.remove(key)
            matcher.add(key, filter)
            matcher.match(content, "attr")
            took = time.thread_time_ns() - started_at
            longest, total = max(longest, took), total + took
        return total / turns / 1e3, longest / 1e3

    def _bytes_each(self, kind: Callable[[], Matcher[str]]) -> float:
        gc.collect()
        tracemalloc.start()
        _, matcher = self._build(kind)
        if kind is not NaiveMatcher:
            for content in self._warm:
                matcher.match(content, "attr")
        taken, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        del matcher
        return taken / len(self._filters)
