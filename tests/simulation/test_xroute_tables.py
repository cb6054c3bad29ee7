"""XROUTE's tables on thousands of random runs, deliveries interleaved at will, asserted after every single step."""

from __future__ import annotations

import os
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest

from node.core.filters import Filter, parse
from node.core.schemes.xroute.canonical import CanonicalTable
from node.core.schemes.xroute.paper import PaperTable
from tests.simulation.bits import Bits
from tests.simulation.table_tree import TableTree

RUNS = int(os.environ.get("XROUTE_RUNS", "500"))
NODES_MAX = 15
OPERATIONS = 45

ATTR = [
    "*", "x > 0", "x > 2", "x < 3", "x = 1", "y exists", "x > 0 and y < 3", "x = 1 or y = 2", "x >= 1 and x <= 2",
    "x > 1 and x < 4", "y != 2", "x = 1 and y = 2", "x > 0 and x < 3 and y < 2", "y = 0", "y = 1 and x < 2",
]  # fmt: skip
XPATH = [
    "//*", "/a", "//b", "/a/b", "/a//c", "/*/b", "//b/c", "/a/b/c", "/a[b]/c", "/a[b/c]", "/a[b][c]", "//b[c]",
    "/*//c", "//c", '/a[@x="1"]', '/a[@x]', '/a/b[@x="1"]', "/a//b/c",
]  # fmt: skip
DOCUMENTS = [
    "<a/>", "<b/>", "<a><b/></a>", "<a><b><c/></b></a>", "<a><b/><c/></a>", "<a><d><c/></d></a>", "<b><c/></b>",
    '<a x="1"><b x="1"/></a>', '<a x="2"><d><b><c/></b></d></a>', "<c><b/></c>",
]  # fmt: skip
CONTENTS = [*({"x": x, "y": y} for x in range(5) for y in range(4)), {"x": 1}, {"y": 2}, {}]
WORLDS = ("bits", "attr", "xpath")


def world(name: str) -> tuple[Sequence[Filter], Sequence[Any]]:
    """The filters and the contents of a run."""
    if name == "bits":
        return [Bits(f"{n:04b}") for n in range(1, 16)], range(4)
    if name == "attr":
        return [parse(text) for text in ATTR], CONTENTS
    return [parse(text, "xpath") for text in XPATH], DOCUMENTS


def random_tree(random: Random) -> list[int]:
    """Parents; the root has one child at least, and leaves are consumer nodes."""
    return [0, *(random.randrange(max(0, node - 4), node) for node in range(1, random.randint(3, NODES_MAX)))]


class Run:
    def __init__(self, seed: str, table: type, world_name: str) -> None:
        self.random = Random(seed)
        self.filters, self.contents = world(world_name)
        self.tree = TableTree(random_tree(self.random), table)
        self.held: list[tuple[int, Filter, int]] = []
        self.owed: list[tuple[int, int, Filter]] = []
        """Event, leaf and filter: established before the event."""

    def play(self) -> None:
        for _ in range(OPERATIONS):
            kind = self.random.random()
            if kind < 0.3:
                self._register()
            elif kind < 0.5:
                self._cancel()
            elif kind < 0.6:
                self._publish()
            else:
                for _ in range(self.random.randint(1, 6)):
                    self.tree.step(self.random)

    def _register(self) -> None:
        leaf, filter = self.random.choice(self.tree.leaves), self.random.choice(self.filters)
        self.held.append((leaf, filter, self.tree.register(leaf, filter)))

    def _cancel(self) -> None:
        if self.held:
            leaf, filter, _ = self.held.pop(self.random.randrange(len(self.held)))
            self.tree.register(leaf, filter, -1)
            self.owed = [owed for owed in self.owed if owed[1:] != (leaf, filter)]

    def _publish(self) -> None:
        content = self.random.choice(self.contents)
        event = self.tree.publish(content)
        for leaf, filter, request in self.held:
            if request in self.tree.settled and filter.matches(content):
                self.owed.append((event.number, leaf, filter))

    def finish(self) -> None:
        self.tree.drain(self.random)
        for event, leaf, filter in self.owed:
            assert leaf in self.tree.arrived[event], f"{leaf} missed an event for {filter}"
        self.tree.check_drained(self.random.sample(list(self.contents), 4), self.random)

    def cancel_all(self) -> None:
        while self.held:
            self._cancel()
        self.tree.drain(self.random)
        assert not any(table.filters() for table in self.tree.tables.values())


@pytest.mark.parametrize("name", WORLDS)
@pytest.mark.parametrize("table", [PaperTable, CanonicalTable])
def test_perfect_and_optimal_whatever_the_order_of_deliveries(table: type, name: str) -> None:
    for seed in range(RUNS):
        run = Run(f"{name}/{seed}", table, name)
        run.play()
        run.finish()
        run.cancel_all()


@pytest.mark.parametrize("name", WORLDS)
def test_canonical_tables_are_a_function_of_the_live_subscriptions(name: str) -> None:
    for seed in range(RUNS // 3):
        run = Run(f"{name}/{seed}", CanonicalTable, name)
        run.play()
        run.tree.drain(run.random)
        anew = TableTree(run.tree.parents, CanonicalTable)
        for leaf, filter, _ in run.random.sample(run.held, len(run.held)):
            anew.register(leaf, filter)
        anew.drain(run.random)
        assert anew.state() == run.tree.state()


def restorable(tree: TableTree) -> Any:
    """What the paper's variant has again after a cancellation: not always Ptr, R and the z of a single entry."""
    return [
        (
            {child: {filter: row.n for filter, row in interface.rows.items()} for child, interface in below.items()},
            {child: sum(row.z for row in interface.rows.values()) for child, interface in below.items()},
            set(tree.tables[node].told()),
        )
        for node, below in tree.interfaces.items()
    ]


@pytest.mark.parametrize("name", WORLDS)
@pytest.mark.parametrize("table", [PaperTable, CanonicalTable])
def test_who_comes_and_goes_leaves_everything_that_routes_as_it_was(table: type, name: str) -> None:
    for seed in range(RUNS // 5):
        run = Run(f"{name}/{seed}", table, name)
        run.play()
        run.tree.drain(run.random)
        before, exactly = restorable(run.tree), run.tree.state()
        leaf, filter = run.random.choice(run.tree.leaves), run.random.choice(run.filters)
        run.tree.register(leaf, filter)
        run.tree.drain(run.random)
        assert restorable(run.tree) != before
        run.tree.register(leaf, filter, -1)
        run.tree.drain(run.random)
        assert restorable(run.tree) == before
        if table is CanonicalTable:
            assert run.tree.state() == exactly
