"""Our index over XPath patterns beside its naive twin and lxml, which is asked pattern by pattern."""

from __future__ import annotations

from functools import partial
from random import Random

from lxml import etree

from controller.audit.patterns import pattern
from controller.workloads.news import documents, dtd
from controller.workloads.news.patterns import Settings, patterns
from node.core.filters import parse
from node.core.matching.index import FilterIndex
from node.core.matching.naive import NaiveMatcher
from tests.bench.matching import over
from tests.bench.measure import Effort, Figure, Say, Section, per_second, race

ELEMENTS = 190
"""Which makes about 5 kB."""
DOCUMENTS = 100
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
        naive: NaiveMatcher[int] = NaiveMatcher()
        ours: FilterIndex[int] = FilterIndex()
        for key, text in enumerate(all_texts[:count]):
            filter = parse(text, "xpath")
            naive.add(key, filter)
            ours.add(key, filter)
        compiled = [pattern(text) for text in all_texts[:count]]
        for content in contents[:CHECKED]:
            expected = naive.match(content, "xpath")
            assert ours.match(content, "xpath") == expected == one_by_one(compiled, content)
        best = race(
            {
                "naive": per_second(over(contents, partial(naive.match, lang="xpath")), effort.run_s),
                "lxml": per_second(over(contents, partial(one_by_one, compiled)), effort.run_s),
                "ours": per_second(over(contents, partial(ours.match, lang="xpath")), effort.run_s),
            },
            effort,
        )
        figures += [
            Figure(f"{count:,} patterns, naive matcher", best["naive"], "documents/s"),
            Figure(f"{count:,} patterns, lxml one by one", best["lxml"], "documents/s", best["naive"]),
            Figure(f"{count:,} patterns, ours", best["ours"], "documents/s", best["naive"]),
        ]
    size = sum(map(len, contents)) / len(contents)
    return Section(f"Matching, XPath: documents of {size / 1000:.1f} kB, parsed each time", figures)


def one_by_one(compiled: list[etree.XPath], content: str) -> list[int]:
    read = etree.fromstring(content)
    return [key for key, matches in enumerate(compiled) if matches(read)]
