"""Our index over XPath patterns beside its naive twin and lxml, which is asked pattern by pattern."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from random import Random

from lxml import etree

from controller.audit.patterns import pattern
from controller.workloads.news import documents, dtd
from controller.workloads.news.patterns import Settings, patterns
from node.core.filters import Filter, parse
from node.core.filters.xpath import document
from node.core.matching import Matcher
from node.core.matching.index import FilterIndex
from node.core.matching.naive import NaiveMatcher
from tests.bench.matching import over
from tests.bench.measure import Effort, Figure, Say, Section, per_second, race

ELEMENTS = 190
"""Which makes about 5 kB."""
DOCUMENTS = 100
UNSEEN = 40
CHECKED = 3


def texts(count: int) -> list[str]:
    return patterns(dtd.news(), Settings(h_min=3, p_attribute=0.05), count, True, Random(1))


def measure(effort: Effort, say: Say) -> Section:
    writer = documents.Writer(dtd.news(), ELEMENTS, 1, Random(2))
    contents = [writer.document() for _ in range(DOCUMENTS)]
    all_texts = texts(effort.filters[-1])
    figures = []
    for count in effort.filters:
        say(f"patterns: {count:,}")
        # Different ones, so that each has one key and the order of keys is that of patterns.
        filters = list(dict.fromkeys(parse(text, "xpath") for text in all_texts[:count]))
        compiled = [pattern(str(filter)) for filter in filters]
        naive, ours = _filled(NaiveMatcher(), filters), _filled(FilterIndex(), filters)
        for content in contents[:CHECKED]:
            expected = naive.match(content, "xpath")
            assert ours.match(content, "xpath") == expected == one_by_one(compiled, content)
        best = race(
            {
                "naive": _apart(over(contents, partial(naive.match, lang="xpath")), effort),
                "lxml": _apart(over(contents, partial(one_by_one, compiled)), effort),
                "ours": _apart(over(contents, partial(ours.match, lang="xpath")), effort),
            },
            effort,
        )
        unseen = max(_pass(_filled(FilterIndex(), filters), 100 + nth) for nth in range(effort.repetitions))
        figures += [
            Figure(f"{count:,} patterns, naive twin", best["naive"], "documents/s"),
            Figure(f"{count:,} patterns, lxml one by one", best["lxml"], "documents/s", best["naive"]),
            Figure(f"{count:,} patterns, ours, never seen", unseen, "documents/s", best["naive"]),
            Figure(f"{count:,} patterns, ours, seen before", best["ours"], "documents/s", best["naive"]),
        ]
    size = sum(map(len, contents)) / len(contents)
    return Section(f"Matching, XPath: documents of {size / 1000:.1f} kB, parsed each time", figures)


def _filled(matcher: Matcher[int], filters: list[Filter]) -> Matcher[int]:
    for key, filter in enumerate(filters):
        matcher.add(key, filter)
    return matcher


def _apart(work: Callable[[], int], effort: Effort) -> Callable[[], float]:
    """Nobody finds a document read that somebody else has read; and there are more than are remembered."""
    run = per_second(work, effort.run_s)

    def alone() -> float:
        document.forget()
        return run()

    return alone


def _pass(matcher: Matcher[int], seed: int) -> float:
    """Documents a second, each of them once, of an index that has just been made."""
    writer = documents.Writer(dtd.news(), ELEMENTS, 1, Random(seed))
    contents = [writer.document() for _ in range(UNSEEN)]
    matcher.match("<a/>", "xpath")
    started_at = time.thread_time_ns()
    for content in contents:
        matcher.match(content, "xpath")
    return len(contents) / (time.thread_time_ns() - started_at) * 1e9


def one_by_one(compiled: list[etree.XPath], content: str) -> list[int]:
    read = etree.fromstring(content)
    return [key for key, matches in enumerate(compiled) if matches(read)]
