"""The naive matcher, which is what cleverer ones will be measured against, and the language by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import cycle

from node.core.filters import Filter, parse
from node.core.filters.attr.filter import attr_filter
from node.core.matching.naive import NaiveMatcher
from tests.bench import world
from tests.bench.measure import Effort, Figure, Say, Section, per_second, race
from tests.bench.world import Attributes, Wanted


def measure(effort: Effort, say: Say) -> Section:
    contents = world.contents(200)
    figures = []
    for count in effort.filters:
        say(f"matching: {count} filters")
        wanted = world.filters(count)
        matcher = filled(wanted)
        for content in contents[:20]:
            assert matcher.match(content, "attr") == loop(wanted, content)
        best = race(
            {
                "loop": per_second(over(contents, partial(loop, wanted)), effort.run_s),
                "naive": per_second(over(contents, partial(matcher.match, lang="attr")), effort.run_s),
            },
            effort,
        )
        figures += [
            Figure(f"{count:,} filters, bare loop over Python lambdas", best["loop"], "messages/s"),
            Figure(f"{count:,} filters, naive matcher", best["naive"], "messages/s", best["loop"]),
        ]
    return Section("Matching: about 10 attributes a message, 2-8 constraints a filter", figures)


def filled(wanted: list[Wanted]) -> NaiveMatcher[int]:
    matcher: NaiveMatcher[int] = NaiveMatcher()
    for number, one in enumerate(wanted):
        matcher.add(number, parse(one.text))
    return matcher


def loop(wanted: list[Wanted], content: Attributes) -> list[int]:
    return [number for number, one in enumerate(wanted) if one.test(content)]


def over(contents: list[Attributes], match: Callable[[Attributes], object]) -> Callable[[], int]:
    turns = cycle(contents)

    def work() -> int:
        match(next(turns))
        return 1

    return work


def measure_filters(effort: Effort, say: Say) -> Section:
    wanted = world.filters(500)
    parsed = [parse(one.text) for one in wanted]
    contents = world.contents(500)
    best = race(
        {
            "lambda": per_second(lambda: each(w.test(c) for w, c in zip(wanted, contents, strict=True)), effort.run_s),
            "matches": per_second(
                lambda: each(f.matches(c) for f, c in zip(parsed, contents, strict=True)),
                effort.run_s,
            ),
            "eval": per_second(lambda: each(compile(w.text, "", "eval") for w in PYTHON), effort.run_s),
            "parse": per_second(lambda: each(attr_filter(w.text) for w in wanted), effort.run_s),
            "again": per_second(lambda: each(parse(w.text) for w in wanted), effort.run_s),
            "covers": per_second(lambda: each(a.covers(b) for a, b in pairs(parsed)), effort.run_s),
            "intersects": per_second(lambda: each(a.intersects(b) for a, b in pairs(parsed)), effort.run_s),
        },
        effort,
    )
    return Section(
        "Filters of 2-8 constraints",
        [
            Figure("matches, as a Python lambda", best["lambda"], "filters/s"),
            Figure("matches", best["matches"], "filters/s", best["lambda"]),
            Figure("covers", best["covers"], "pairs/s", best["lambda"]),
            Figure("intersects", best["intersects"], "pairs/s", best["lambda"]),
            Figure("parse, as Python compiles an expression of that form", best["eval"], "texts/s"),
            Figure("parse", best["parse"], "texts/s", best["eval"]),
            Figure("parse of a text seen before", best["again"], "texts/s", best["eval"]),
        ],
    )


# Texts that Python reads as well: signs only, `==` for `=`.
PYTHON = [
    Wanted(one.text.replace(" = ", " == ").replace(" prefix ", " < ").replace(" contains ", " > "), one.test)
    for one in world.filters(500)
]


def pairs(filters: list[Filter]) -> Iterator[tuple[Filter, Filter]]:
    return zip(filters, filters[1:] + filters[:1], strict=True)


def each(results: Iterator[object]) -> int:
    return sum(1 for _ in results)
