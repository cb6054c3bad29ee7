"""T^k: what one interface told. It is the same in all producer trees that the interface is downstream in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from node.core.errors import PeerError
from node.core.filters import Filter
from node.core.matching import Covering
from node.core.matching.covering import CoveringIndex
from node.core.schemes.xroute.triples import Triple


class Row(NamedTuple):
    """Instances of the filter (x + y in the paper), and those of others that it represents (z)."""

    n: int
    z: int

    @property
    def population(self) -> int:
        return self.n + self.z


NOTHING = Row(0, 0)


class Step(NamedTuple):
    """A triple, and the rows that it represented when it arrived."""

    filter: Filter
    n: int
    r: int
    represented: tuple[tuple[Filter, Row], ...] = ()


class Applied(NamedTuple):
    """One advertisement, after T^k has taken it."""

    steps: list[Step]
    changes: dict[Filter, Row]
    """By how much each row has changed."""


class Interface:
    """Rows of distinct filters, of which none covers another."""

    __slots__ = ("_covering", "rows")

    def __init__(self) -> None:
        self.rows: dict[Filter, Row] = {}
        self._covering: Covering = CoveringIndex()

    def apply(self, triples: Iterable[Triple]) -> Applied:
        """Raises PeerError, with nothing applied, if the sender counts differently."""
        triples = list(triples)
        self._check_counts(triples)
        steps = [self._take(triple) for triple in triples]
        changes: dict[Filter, Row] = {}
        for step in steps:
            _add(changes, step.filter, step.n, step.r + sum(row.population for _, row in step.represented))
            for narrower, row in step.represented:
                _add(changes, narrower, -row.n, -row.z)
        for filter in [filter for filter in changes if filter in self.rows and not self.rows[filter].n]:
            # Whom it represented is told again by the triples beside the cancellation.
            _add(changes, filter, 0, -self._remove(filter).z)
        return Applied(steps, {filter: change for filter, change in changes.items() if change != NOTHING})

    def _check_counts(self, triples: list[Triple]) -> None:
        counts: dict[Filter, int] = {}
        for filter, n, _ in triples:
            known = counts.get(filter, self.rows.get(filter, NOTHING).n)
            if known + n < 0 or (not known and n <= 0):
                raise PeerError("update", f"({filter}; {n}) where {known} are registered")
            counts[filter] = known + n

    def _take(self, triple: Triple) -> Step:
        filter, n, r = triple
        row = self.rows.get(filter)
        if row is not None:
            self.rows[filter] = Row(row.n + n, row.z + r)
            return Step(filter, n, r)
        represented = tuple((narrower, self._remove(narrower)) for narrower in self._covering.covered(filter))
        self._put(filter, Row(n, r + sum(row.population for _, row in represented)))
        return Step(filter, n, r, represented)

    def rewrite(self, rows: Mapping[Filter, Row], complete: bool) -> Applied | list[Filter]:
        """Set rows as they are told, n = 0 removes one; complete: there are no others.

        If rows have only come, that is the same as having them advertised now; else whose row has changed.
        """
        gone = [filter for filter in self.rows if filter not in rows] if complete else []
        changed = [filter for filter, row in rows.items() if row != self.rows.get(filter, NOTHING)]
        have_only_come = not gone and not any(filter in self.rows for filter in changed)
        for filter in (*gone, *changed):
            if filter in self.rows:
                self._remove(filter)
            row = rows.get(filter, NOTHING)
            if row.n:
                self._put(filter, row)
        if have_only_come:
            come = {filter: rows[filter] for filter in changed}
            return Applied([Step(filter, row.n, row.z) for filter, row in come.items()], come)
        return gone + changed

    def represented_by(self, filter: Filter) -> list[Filter]:
        """The rows that this filter would represent if it came now."""
        return self._covering.covered(filter)

    def _put(self, filter: Filter, row: Row) -> None:
        self.rows[filter] = row
        self._covering.add(filter)

    def _remove(self, filter: Filter) -> Row:
        self._covering.remove(filter)
        return self.rows.pop(filter)


def _add(changes: dict[Filter, Row], filter: Filter, n: int, z: int) -> None:
    before = changes.get(filter, NOTHING)
    changes[filter] = Row(before.n + n, before.z + z)
