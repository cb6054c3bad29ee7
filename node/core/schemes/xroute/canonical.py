"""One producer tree's table as a pure function of the live subscriptions, so that cancelling restores it to the byte.

Tops are the maximal filters; everything else hangs directly below the least top that covers it, in the total order of
normal forms; R of a top is what it represents plus all that hangs below it. What upstream was told is remembered, and
the difference is sent: a new top with r less by what the receiver folds into it by itself.
"""

from __future__ import annotations

from collections.abc import Iterable

from node.core.errors import InvariantViolation
from node.core.filters import Filter
from node.core.matching import Covering
from node.core.matching.covering import CoveringIndex
from node.core.messages import Port
from node.core.schemes.xroute.interface import Applied, Interface, Row
from node.core.schemes.xroute.triples import Triple


class Entry:
    __slots__ = ("below", "filter", "n", "substituted", "top", "z")

    def __init__(self, filter: Filter) -> None:
        self.filter = filter
        self.n = 0
        self.z = 0
        self.top: Entry | None = None
        """The one it hangs below; None for a top, and for an entry that has not found its place yet."""
        self.below: dict[Filter, Entry] = {}
        self.substituted = 0
        """The population of what hangs below."""

    @property
    def row(self) -> Row:
        return Row(self.n, self.z + self.substituted)


class CanonicalTable:
    def __init__(self) -> None:
        self.entries: dict[Filter, Entry] = {}
        self._all: Covering = CoveringIndex()
        self._tops: Covering = CoveringIndex()
        self._top_entries: dict[Filter, Entry] = {}
        self._upstream = Interface()
        """The interface of the upstream neighbour that this table feeds, as it will be once it has heard all."""
        self._dirty: dict[Filter, None] = {}
        """What upstream may have to be told of."""

    def apply(self, port: Port, applied: Applied) -> list[Triple]:
        loose = self._sort_out(self._count(applied.changes))
        new_tops = self._find_tops(loose)
        self._find_places(loose, new_tops)
        return self._tell()

    def build(self, rows: Iterable[tuple[Port, Filter, Row]]) -> None:
        for port, filter, row in rows:
            self.apply(port, Applied([], {filter: row}))

    def filters(self) -> Iterable[Filter]:
        return self.entries

    def told(self) -> dict[Filter, Row]:
        return dict(self._upstream.rows)

    def _count(self, changes: dict[Filter, Row]) -> list[Entry]:
        counted = []
        for filter, (n, z) in changes.items():
            entry = self.entries.get(filter)
            if entry is None:
                entry = self.entries[filter] = Entry(filter)
                self._all.add(filter)
            entry.n += n
            entry.z += z
            if entry.top is not None:
                entry.top.substituted += n + z
                self._dirty[entry.top.filter] = None
            self._dirty[filter] = None
            counted.append(entry)
        return counted

    def _sort_out(self, counted: list[Entry]) -> dict[Filter, Entry]:
        """Removes what is gone; returns what needs a place: new entries, and what hung below a top that is gone."""
        loose = {
            entry.filter: entry for entry in counted if entry.top is None and entry.filter not in self._top_entries
        }
        gone = [entry for entry in counted if not entry.n]
        for entry in gone:
            del self.entries[entry.filter]
            self._all.remove(entry.filter)
            if entry.filter in self._top_entries:
                self._remove_top(entry, loose)
            self._detach(entry)
        for entry in gone:
            loose.pop(entry.filter, None)
        return loose

    def _remove_top(self, top: Entry, loose: dict[Filter, Entry]) -> None:
        del self._top_entries[top.filter]
        self._tops.remove(top.filter)
        self._dirty[top.filter] = None
        for entry in list(top.below.values()):
            self._detach(entry)
            loose[entry.filter] = entry

    def _find_tops(self, loose: dict[Filter, Entry]) -> list[Entry]:
        """`loose` grows by the tops that are none any more, and what hung below them."""
        for entry in list(loose.values()):
            if self._tops.coverers(entry.filter):
                continue
            for narrower in self._tops.covered(entry.filter):
                demoted = self._top_entries[narrower]
                self._remove_top(demoted, loose)
                loose[narrower] = demoted
            self._tops.add(entry.filter)
            self._top_entries[entry.filter] = entry
            self._dirty[entry.filter] = None
        return [entry for entry in loose.values() if entry.filter in self._top_entries]

    def _find_places(self, loose: dict[Filter, Entry], new_tops: list[Entry]) -> None:
        for entry in loose.values():
            if entry.filter not in self._top_entries:
                self._hang(entry, self._top_entries[min(self._tops.coverers(entry.filter))])
        for top in new_tops:
            for narrower in self._all.covered(top.filter):
                entry = self.entries[narrower]
                if entry.top is not None and top.filter < entry.top.filter:
                    self._detach(entry)
                    self._hang(entry, top)

    def _hang(self, entry: Entry, top: Entry) -> None:
        entry.top = top
        top.below[entry.filter] = entry
        top.substituted += entry.n + entry.z
        self._dirty[top.filter] = None

    def _detach(self, entry: Entry) -> None:
        if entry.top is not None:
            del entry.top.below[entry.filter]
            entry.top.substituted -= entry.n + entry.z
            self._dirty[entry.top.filter] = None
            entry.top = None

    def _tell(self) -> list[Triple]:
        """New tops, then tops that are none any more and were not folded into a new one, then what has changed."""
        dirty, self._dirty = self._dirty, {}
        known = self._upstream.rows
        told: list[Triple] = []

        def tell(filter: Filter, n: int, r: int) -> None:
            told.append(Triple(filter, n, r))
            self._upstream.apply(told[-1:])

        for filter in dirty:
            if filter in self._top_entries and filter not in known:
                n, r = self._top_entries[filter].row
                tell(filter, n, r - sum(known[each].population for each in self._upstream.represented_by(filter)))
        for filter in dirty:
            if filter in known and filter not in self._top_entries:
                tell(filter, -known[filter].n, 0)
        for filter in dirty:
            if filter in known and (row := self._top_entries[filter].row) != known[filter]:
                tell(filter, row.n - known[filter].n, row.z - known[filter].z)
        return told

    def check(self, where: str) -> None:
        for filter, entry in self.entries.items():
            told = f"{where}: {filter}"
            if entry.n <= 0:
                raise InvariantViolation(f"{told} has no instance")
            coverers = self._tops.coverers(filter)
            if filter in self._top_entries:
                if coverers:
                    raise InvariantViolation(f"{told} is a top though {coverers[0]} covers it")
            elif entry.top is None or entry.top.filter != min(coverers, default=None):
                raise InvariantViolation(f"{told} does not hang below the least top that covers it")
            below = sum(each.n + each.z for each in entry.below.values())
            if entry.substituted != below:
                raise InvariantViolation(f"{told}: {entry.substituted} are counted below it, there are {below}")
        tops = {filter: entry.row for filter, entry in self._top_entries.items()}
        if tops != self._upstream.rows:
            raise InvariantViolation(f"{where}: upstream was told {self._upstream.rows}, the tops are {tops}")
