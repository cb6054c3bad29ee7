"""One producer tree's routing table with the counters, pointers and algorithms of the paper, mended.

Names are the paper's: T^k = (x, y, z) per interface, R, Ptr; h(S) is the top of S's chain, tree(S) what is substituted
by S. Where the print loses events the property wins; the stories are in tests/unit/test_xroute_mends.py:

* Algorithms 5 and 6 are entered whenever x + y comes to 0, not only if z > 0.
* Algorithm 3 line 27: an entry that goes leaves its children to its own Ptr.
* Algorithm 3 line 6: ancestors in tree(S) include S itself.
* Algorithm 3 line 34 tests Ptr_S.
* Algorithm 5 lines 31, 38, 54 mean z as it was before line 28; lines 38 and 54 carry the triples of line 25 too.
* Definition 2 counts x + y.
* `reinsert` announces what an older top takes over.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from node.core.errors import InvariantViolation
from node.core.filters import Filter
from node.core.matching import Covering
from node.core.matching.covering import CoveringIndex
from node.core.messages import Port
from node.core.schemes.xroute.interface import Applied, Row, Step
from node.core.schemes.xroute.triples import Triple


class Counts:
    __slots__ = ("x", "y", "z")

    def __init__(self) -> None:
        self.x = self.y = self.z = 0

    @property
    def instances(self) -> int:
        return self.x + self.y


class Entry:
    __slots__ = ("R", "T", "filter", "ptr", "substituted")

    def __init__(self, filter: Filter) -> None:
        self.filter = filter
        self.T: dict[Port, Counts] = {}
        self.R = 0
        self.ptr: Entry | None = None
        self.substituted: dict[Filter, Entry] = {}
        """The entries whose Ptr is this one."""

    @property
    def instances(self) -> int:
        return sum(counts.x + counts.y for counts in self.T.values())

    @property
    def represented(self) -> int:
        return sum(counts.z for counts in self.T.values())

    @property
    def top(self) -> Entry:
        entry = self
        while entry.ptr is not None:
            entry = entry.ptr
        return entry

    def ancestors(self) -> Iterator[Entry]:
        """Strict ones, up to the top."""
        entry = self.ptr
        while entry is not None:
            yield entry
            entry = entry.ptr

    def count(self, port: Port, n: int, r: int) -> None:
        counts = self.T.get(port)
        if counts is None:
            counts = self.T[port] = Counts()
        if self.ptr is None:
            counts.x += n
        else:
            counts.y += n
        counts.z += r
        self.R += r


class PaperTable:
    def __init__(self) -> None:
        self.entries: dict[Filter, Entry] = {}
        self._tops: Covering = CoveringIndex()

    def apply(self, port: Port, applied: Applied) -> list[Triple]:
        """Take one advertisement from an interface; returns the one that goes upstream."""
        steps = applied.steps
        if steps and self._cancels_all(port, steps[0]):
            return self._cancel(port, steps[0], steps[1:])
        out: list[Triple] = []
        for step in steps:
            entry = self.entries.get(step.filter)
            if entry is None:
                out += self._represent(port, self._insert(step.filter), step)
            elif port not in entry.T:
                out += self._represent(port, entry, step)
            else:
                out.append(self._update(port, entry, step))
        return out

    def build(self, rows: Iterable[tuple[Port, Filter, Row]]) -> None:
        """From what the interfaces hold; what is told upstream is all of `told`."""
        for port, filter, row in rows:
            self.apply(port, Applied([Step(filter, row.n, row.z)], {}))

    def filters(self) -> Iterable[Filter]:
        return self.entries

    def told(self) -> dict[Filter, Row]:
        """What the upstream neighbour knows: the tops, each with n and R."""
        return {entry.filter: Row(entry.instances, entry.R) for entry in self.entries.values() if entry.ptr is None}

    def _cancels_all(self, port: Port, step: Step) -> bool:
        entry = self.entries.get(step.filter)
        return step.n < 0 and entry is not None and port in entry.T and entry.T[port].instances + step.n == 0

    def _update(self, port: Port, entry: Entry, step: Step) -> Triple:
        """Algorithm 2."""
        entry.count(port, step.n, step.r)
        for ancestor in entry.ancestors():
            ancestor.R += step.n + step.r
        return self._announced(entry, step.n, step.r)

    def _announced(self, entry: Entry, n: int, r: int) -> Triple:
        """What is substituted is advertised by its top."""
        return Triple(entry.filter, n, r) if entry.ptr is None else Triple(entry.top.filter, 0, n + r)

    def _insert(self, filter: Filter) -> Entry:
        """Algorithm 4."""
        entry = self.entries[filter] = Entry(filter)
        coverers = self._tops.coverers(filter)
        if coverers:
            self._substitute(entry, self.entries[coverers[0]])
        else:
            for narrower in self._tops.covered(filter):
                self._tops.remove(narrower)
                self._substitute(self.entries[narrower], entry)
            self._tops.add(filter)
        return entry

    def _substitute(self, entry: Entry, by: Entry) -> None:
        """Definition 2."""
        entry.ptr = by
        by.substituted[entry.filter] = entry
        by.R += entry.instances + entry.R

    def _represent(self, port: Port, entry: Entry, step: Step) -> list[Triple]:
        """Algorithm 3: the filter is new at this interface, and stands there for the narrower ones it meets."""
        counts = entry.T[port] = Counts()
        appended: list[Triple] = []
        moved = 0
        for filter, row in step.represented:
            narrower = self.entries[filter]
            population = row.population
            counts.z += population
            entry.R += population
            narrower.R -= narrower.T.pop(port).z
            for ancestor in narrower.ancestors():
                ancestor.R -= population
                if ancestor is entry:
                    break
            else:
                if narrower.ptr is not None and narrower.top is not entry.top:
                    appended.append(Triple(narrower.top.filter, 0, -population))
                    moved += population
                for ancestor in entry.ancestors():
                    ancestor.R += population
            if not narrower.T:
                self._drop(narrower)
        for ancestor in entry.ancestors():
            ancestor.R += step.n + step.r
        entry.count(port, step.n, step.r)
        return [self._announced(entry, step.n, step.r + moved), *appended]

    def _drop(self, entry: Entry) -> None:
        """An entry that is substituted goes; its children are substituted by who substituted it."""
        assert entry.ptr is not None
        for child in entry.substituted.values():
            child.ptr = entry.ptr
            entry.ptr.substituted[child.filter] = child
        del entry.ptr.substituted[entry.filter]
        del self.entries[entry.filter]

    def _cancel(self, port: Port, step: Step, beside: list[Step]) -> list[Triple]:
        """Algorithms 5 and 6: the last instance at this interface goes; `beside` tells whom it represented there."""
        entry = self.entries[step.filter]
        z = entry.T[port].z
        kept, kept_count, appended = self._restore(port, entry, beside)
        entry.R -= z
        del entry.T[port]
        for ancestor in entry.ancestors():
            ancestor.R += step.n - z
        for each in kept:
            for ancestor in self.entries[each.filter].ancestors():
                ancestor.R += each.n + each.r
        if entry.ptr is not None:
            announced = Triple(entry.top.filter, 0, step.n - z + kept_count)
            if not entry.T:
                self._drop(entry)
            return [announced, *appended]
        if entry.T:
            return [Triple(entry.filter, step.n, kept_count - z), *appended]
        self._tops.remove(entry.filter)
        del self.entries[entry.filter]
        return [Triple(entry.filter, step.n, 0), *self._reinsert(entry), *appended]

    def _restore(self, port: Port, entry: Entry, beside: list[Step]) -> tuple[list[Step], int, list[Triple]]:
        """Lines 7 to 26: those in the canceled filter's own tree, how many they are, and what others announce."""
        kept: list[Step] = []
        kept_count = 0
        appended: list[Triple] = []
        top = entry.top
        for step in beside:
            each = self.entries.get(step.filter)
            if each is None:
                each = self.entries[step.filter] = Entry(step.filter)
                each.ptr = entry
                entry.substituted[step.filter] = each
            if each.top is top:
                each.count(port, step.n, step.r)
                kept.append(step)
                kept_count += step.n + step.r
            else:
                appended.append(self._update(port, each, step))
        return kept, kept_count, appended

    def _reinsert(self, gone: Entry) -> list[Triple]:
        """The children of a top that went find a new one among themselves, or among the older tops."""
        freed = list(gone.substituted.values())
        for child in freed:
            child.ptr = None
        for child in freed:
            coverers = self._tops.coverers(child.filter)
            if coverers:
                self._substitute(child, self.entries[coverers[0]])
                continue
            for narrower in self._tops.covered(child.filter):
                self._tops.remove(narrower)
                self._substitute(self.entries[narrower], child)
            self._tops.add(child.filter)
        return _reinserted(freed)

    def check(self, where: str) -> None:
        for entry in self.entries.values():
            told = f"{where}: {entry.filter}"
            if not entry.T or any(counts.instances <= 0 for counts in entry.T.values()):
                raise InvariantViolation(f"{told} is registered at an interface without an instance")
            substituted = sum(child.instances + child.R for child in entry.substituted.values())
            if entry.represented + substituted != entry.R:
                raise InvariantViolation(f"{told}: R is {entry.R}, not {entry.represented} + {substituted}")
            if entry.ptr is None:
                if self._tops.coverers(entry.filter):
                    raise InvariantViolation(f"{told} is a top though another top covers it")
            elif self.entries.get(entry.ptr.filter) is not entry.ptr or not entry.ptr.filter.covers(entry.filter):
                raise InvariantViolation(f"{told}: Ptr leads to {entry.ptr.filter}")
            elif entry.ptr.substituted.get(entry.filter) is not entry:
                raise InvariantViolation(f"{told} is not among those that {entry.ptr.filter} substitutes")


def _reinserted(freed: list[Entry]) -> list[Triple]:
    """The new tops, and what older tops have taken over."""
    triples = [Triple(child.filter, child.instances, child.R) for child in freed if child.ptr is None]
    are_freed = {child.filter for child in freed}
    taken_over = (
        Triple(child.ptr.filter, 0, child.instances + child.R)
        for child in freed
        if child.ptr is not None and child.ptr.filter not in are_freed
    )
    return [*triples, *taken_over]
