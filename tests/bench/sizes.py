"""Where one way overtakes another within our indexes: what their sizes were chosen by."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import count as count_from
from random import Random
from typing import Any

from controller.workloads.news import documents, dtd
from node.core.filters import parse
from node.core.filters.attr.filter import AttrFilter, attr_filter
from node.core.filters.xpath.document import document
from node.core.matching.arrays import ArrayPacked
from node.core.matching.bits import pick
from node.core.matching.forest import Forest
from node.core.matching.harvest import Harvest, Sheaf
from node.core.matching.packed import BitPacked, Query, Table
from node.core.matching.patterns import OneByOne
from node.core.matching.waiting import Waiting
from tests.bench import patterns, world
from tests.bench.measure import Effort, Figure, Say, Section, per_second, race

WORKLOADS = ("mixed", "equality")
SEEN = 40
# So many of the slots are hits.
HITS = 0.04

Ask = Callable[[Any], object]


def measure(effort: Effort, say: Say) -> Section:
    figures = [
        *(figure for workload in WORKLOADS for figure in _waiting(workload, effort, say)),
        *(figure for workload in WORKLOADS for figure in _rows(workload, effort, say)),
        *_picking(effort, say),
        *_documents(effort, say),
    ]
    return Section("Sizes: where one way overtakes another", figures)


def _waiting(workload: str, effort: Effort, say: Say) -> Iterator[Figure]:
    for count in effort.few:
        what = f"{count} filters, {workload}"
        say(f"sizes: {what}")
        filters = _filters(workload, count)
        waiting: Waiting[int] = Waiting()
        for key, filter in enumerate(filters):
            waiting.add(filter, key)
        seen = _race({"waiting": waiting.match, "packed": BitPacked(_table(filters)).hits}, _queries(1), effort)
        unseen = _unseen(lambda filters=filters: BitPacked(_table(filters)).hits, _queries, effort)
        yield Figure(f"{what}, waiting", seen["waiting"], "messages/s")
        yield Figure(f"{what}, packed, seen before", seen["packed"], "messages/s", seen["waiting"])
        yield Figure(f"{what}, packed, never seen", unseen, "messages/s", seen["waiting"])


def _rows(workload: str, effort: Effort, say: Say) -> Iterator[Figure]:
    for count in effort.wide:
        what = f"{count:,} filters, {workload}, rows as"
        say(f"sizes: {what} integers or arrays")
        table = _table(_filters(workload, count))
        seen = _race({"integers": BitPacked(table).hits, "arrays": ArrayPacked(table).hits}, _queries(1), effort)
        bits = _unseen(lambda table=table: BitPacked(table).hits, _queries, effort)
        arrays = _unseen(lambda table=table: ArrayPacked(table).hits, _queries, effort)
        yield Figure(f"{what} integers, seen before", seen["integers"], "messages/s")
        yield Figure(f"{what} arrays, seen before", seen["arrays"], "messages/s", seen["integers"])
        yield Figure(f"{what} integers, never seen", bits, "messages/s")
        yield Figure(f"{what} arrays, never seen", arrays, "messages/s", bits)


def _picking(effort: Effort, say: Say) -> Iterator[Figure]:
    for width in effort.narrow:
        say(f"sizes: hits among {width:,} slots")
        random = Random(1)
        held = [f"s{slot}" for slot in range(width)]
        rows = [sum(1 << slot for slot in range(width) if random.random() < HITS) for _ in range(SEEN)]
        harvest: Harvest[str] = Harvest()
        harvest.bring([Sheaf(held)])
        ways: dict[str, Ask] = {"pick": partial(_pick, held), "numpy": partial(_gather, harvest)}
        best = _race(ways, rows, effort)
        yield Figure(f"{width:,} slots, {HITS:.0%} hits, one by one", best["pick"], "rows/s")
        yield Figure(f"{width:,} slots, {HITS:.0%} hits, by numpy", best["numpy"], "rows/s", best["pick"])


def _pick(held: list[str], row: int) -> list[str]:
    return pick(row, held)


def _gather(harvest: Harvest[str], row: int) -> list[str]:
    return harvest.gather_many([row])


def _documents(effort: Effort, say: Say) -> Iterator[Figure]:
    texts = patterns.texts(effort.few[-1])
    writers = (documents.Writer(dtd.news(), patterns.ELEMENTS, 1, Random(seed)) for seed in count_from())

    def read(_: int) -> list[Any]:
        writer = next(writers)
        return [document(writer.document()) for _ in range(SEEN)]

    for count in effort.few:
        what = f"{count} patterns"
        say(f"sizes: {what}")
        filters = [parse(text, "xpath") for text in texts[:count]]
        one_by_one: OneByOne[int] = OneByOne()
        for key, filter in enumerate(filters):
            one_by_one.add(filter, key)
        items = [(filter, key) for key, filter in enumerate(filters)]
        seen = _race({"one": one_by_one.match, "forest": Forest(items).hits}, read(0), effort)
        unseen = _unseen(lambda items=items: Forest(items).hits, read, effort)
        yield Figure(f"{what}, one by one", seen["one"], "documents/s")
        yield Figure(f"{what}, automaton, seen before", seen["forest"], "documents/s", seen["one"])
        yield Figure(f"{what}, automaton, never seen", unseen, "documents/s", seen["one"])


def _filters(workload: str, count: int) -> list[AttrFilter]:
    texts = world.texts(count, only_equality=workload == "equality")
    return list(dict.fromkeys(map(attr_filter, texts)))


def _table(filters: Sequence[AttrFilter]) -> Table:
    return Table.of([(filter, key) for key, filter in enumerate(filters)])


def _queries(seed: int) -> list[Query]:
    return [Query(content, frozenset(content)) for content in world.contents(SEEN, seed)]


def _race(ways: dict[str, Ask], asked: Sequence[Any], effort: Effort) -> dict[str, float]:
    for ask in ways.values():
        for each in asked:
            ask(each)
    return race({name: per_second(_over(asked, ask), effort.run_s) for name, ask in ways.items()}, effort)


def _over(asked: Sequence[Any], ask: Ask) -> Callable[[], int]:
    def work() -> int:
        for each in asked:
            ask(each)
        return len(asked)

    return work


def _unseen(make: Callable[[], Ask], asked_of: Callable[[int], Sequence[Any]], effort: Effort) -> float:
    """Each time another table that has just been made, and what nobody has seen."""
    best = 0.0
    for nth in range(effort.repetitions):
        ask, asked = make(), asked_of(100 + nth)
        started_at = time.thread_time_ns()
        for each in asked:
            ask(each)
        best = max(best, len(asked) / (time.thread_time_ns() - started_at) * 1e9)
    return best
