"""Tries ever smaller runs, and keeps each that is still convicted of the same."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator

from controller.campaigns.rehearsal import Rehearsed, rehearse
from controller.campaigns.settled import PlannedRun
from controller.campaigns.shrink import cuts
from controller.campaigns.shrink.deltas import fewest
from controller.errors import BrokerlabError

ENDED, UNSETTLED, UNCONFIRMED = "a broker ended by itself", "the network did not settle", "confirmed"


def offences(rehearsed: Rehearsed) -> tuple[str, ...]:
    """What a run is convicted of: checks that fail, or why nothing could be told."""
    judged = rehearsed.judgement()
    if judged.violations:
        return judged.broken
    if judged.cut_short:
        return (ENDED if "ended by itself" in judged.cut_short else UNSETTLED,)
    return (UNCONFIRMED,) if any("never confirmed" in doubt for doubt in judged.doubts) else ()


def offence(rehearsed: Rehearsed) -> str | None:
    return next(iter(offences(rehearsed)), None)


class OutOfTime(Exception):
    """Smaller runs were not looked for any longer."""


class Shrinker:
    def __init__(self, run: PlannedRun, wanted: str, within_s: float, told: Callable[[str], None]) -> None:
        self.run = run
        self.tried = 0
        self._wanted = wanted
        self._told = told
        self._until_s = time.monotonic() + within_s

    def shrink(self) -> bool:
        """False if time ran out before nothing could be made smaller any more."""
        try:
            self._keep_first(cuts.plainer(self.run), every=True)
            size = -1
            while size != self.size:
                size = self.size
                self._faults()
                self._clients()
                self._brokers()
                self._operations()
                self._simplify()
            self._breaks(cuts.renamed(self.run))
        except OutOfTime:
            return False
        return True

    @property
    def size(self) -> int:
        run = self.run
        texts = sum(len(str(one)) for one in run.given.operations)
        return len(run.topology.brokers) + len(run.given.operations) + len(run.faults) + texts

    def counted(self) -> str:
        run = self.run
        return f"{len(run.topology.brokers)} brokers, {len(run.given.operations)} operations, {len(run.faults)} faults"

    def _breaks(self, candidate: PlannedRun) -> bool:
        """Kept if it still does."""
        if time.monotonic() > self._until_s:
            raise OutOfTime
        self.tried += 1
        try:
            still = self._wanted in offences(rehearse(candidate))
        except BrokerlabError:
            # Such as a fault on a client that is not there any more.
            still = False
        if still:
            self.run = candidate
        self._told(self.counted())
        return still

    def _keep_first(self, candidates: Iterable[PlannedRun], every: bool = False) -> bool:
        """`every`: after one was kept, those that follow from it are tried too."""
        for candidate in candidates:
            if self._breaks(candidate):
                if every:
                    self._keep_first(cuts.plainer(self.run), every=True)
                return True
        return False

    def _faults(self) -> None:
        fewest(self.run.faults, lambda some: self._breaks(cuts.with_faults(self.run, some)))

    def _clients(self) -> None:
        for client in self.run.given.clients:
            self._breaks(cuts.without_client(self.run, client))

    def _brokers(self) -> None:
        is_smaller = True
        while is_smaller:
            is_smaller = self._keep_first(self._merged())

    def _merged(self) -> Iterator[PlannedRun]:
        run = self.run
        for link in run.topology.links:
            yield cuts.merged(run, link.b, link.a)
            yield cuts.merged(run, link.a, link.b)

    def _operations(self) -> None:
        fewest(self.run.given.operations, lambda some: self._breaks(cuts.with_operations(self.run, some)))

    def _simplify(self) -> None:
        self._keep_first(cuts.plainer(self.run), every=True)
        for simpler in (cuts.simpler_operations, cuts.simpler_faults):
            while self._keep_first(simpler(self.run)):
                pass
        for shorter in list(cuts.sooner(self.run)):
            self._keep_first(shorter(self.run))
