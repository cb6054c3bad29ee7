"""Where XROUTE as printed loses events: each story loses none here, and a table with the slip is caught by it.

`[0,0,1,1]` are the parents of nodes 0 to 3; `2:1000+` registers the filter with the bits 1000 at leaf 2.
"""

from __future__ import annotations

from random import Random

import pytest

from node.core.errors import InvariantViolation, PeerError
from node.core.messages import Port
from node.core.schemes.xroute.canonical import CanonicalTable
from node.core.schemes.xroute.interface import Step
from node.core.schemes.xroute.paper import Entry, PaperTable
from node.core.schemes.xroute.triples import Triple
from tests.simulation.bits import Bits
from tests.simulation.table_tree import TableTree

STORIES = {
    "Algorithms 5 and 6 only if z > 0": ("0,0,1,1", "2:1000+ 3:1011+ 3:1011-"),
    "line 27 leaves children dangling": ("0,0,1,1", "2:1100+ 3:0100+ 2:1101+"),
    "reinsert is silent about older tops": ("0,0,1", "2:1010+ 2:0110+ 2:0010+ 2:1010- 2:0010-"),
    "lines 38 and 54 drop the triples of line 25": ("0,0,1,1", "3:1000+ 2:1010+ 3:1010+ 3:1100+ 3:1010-"),
    "line 34 tests h(S)": ("0,0,0", "2:1111+ 2:1111+ 2:1111-"),
    "definition 2 counts x only": ("0,0,1", "2:1111+ 2:1011+ 2:0010+ 2:1111- 2:0010-"),
    "line 28 clears z too early": ("0,0,0", "1:1110+ 2:1111+ 1:1100+ 1:1110-"),
    "line 6 leaves out S itself": ("0,0,0", "2:1001+ 2:1111+"),
}


def tell(parents: str, story: str, table: type) -> TableTree:
    tree = TableTree([int(parent) for parent in parents.split(",")], table)
    for word in story.split():
        leaf, _, what = word.partition(":")
        tree.register(int(leaf), Bits(what[:-1]), 1 if what[-1] == "+" else -1)
        tree.drain(Random(0))
        tree.check_drained(list(range(4)), Random(0))
    return tree


@pytest.mark.parametrize("table", [PaperTable, CanonicalTable])
@pytest.mark.parametrize("slip", STORIES)
def test_no_event_is_lost(slip: str, table: type) -> None:
    tell(*STORIES[slip], table)


class OnlyIfSomethingIsRepresented(PaperTable):
    def _cancels_all(self, port: Port, step: Step) -> bool:
        return super()._cancels_all(port, step) and self.entries[step.filter].T[port].z > 0


class DanglingChildren(PaperTable):
    def _drop(self, entry: Entry) -> None:
        assert entry.ptr is not None
        del entry.ptr.substituted[entry.filter]
        del self.entries[entry.filter]


class SilentReinsert(PaperTable):
    def _reinsert(self, gone: Entry) -> list[Triple]:
        return [triple for triple in super()._reinsert(gone) if triple.n]


class DroppedTriples(PaperTable):
    def _restore(self, port: Port, entry: Entry, beside: list[Step]) -> tuple[list[Step], int, list[Triple]]:
        kept, count, _ = super()._restore(port, entry, beside)
        return kept, count, []


class AlwaysSubstituted(PaperTable):
    def _represent(self, port: Port, entry: Entry, step: Step) -> list[Triple]:
        (filter, n, r), *appended = super()._represent(port, entry, step)
        return [Triple(filter, 0, n + r), *appended]


class CountsOnlyX(PaperTable):
    def _substitute(self, entry: Entry, by: Entry) -> None:
        super()._substitute(entry, by)
        by.R -= sum(counts.y for counts in entry.T.values())


@pytest.mark.parametrize(
    ("slip", "table"),
    [
        ("Algorithms 5 and 6 only if z > 0", OnlyIfSomethingIsRepresented),
        ("line 27 leaves children dangling", DanglingChildren),
        ("reinsert is silent about older tops", SilentReinsert),
        ("lines 38 and 54 drop the triples of line 25", DroppedTriples),
        ("line 34 tests h(S)", AlwaysSubstituted),
        ("definition 2 counts x only", CountsOnlyX),
    ],
)
def test_the_slip_is_caught_by_its_story(slip: str, table: type) -> None:
    with pytest.raises((AssertionError, InvariantViolation, PeerError, KeyError)):
        tell(*STORIES[slip], table)


def test_what_a_cancellation_does_not_restore_on_paper_the_canonical_table_restores_to_the_byte() -> None:
    parents, story = "0,0,1,1", "2:1110+ 3:1000+ 2:1011+"
    before = tell(parents, story, CanonicalTable)
    after = tell(parents, f"{story} 3:1011+ 3:1011-", CanonicalTable)
    assert after.state() == before.state()
