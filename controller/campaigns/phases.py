"""The phases of a run on a cluster that is up: warm, load with faults, heal, quiet, final publications, quiet."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from controller.campaigns.quiet import Round, unrest
from controller.campaigns.schedule import Schedule
from controller.campaigns.settled import SettledRun
from controller.campaigns.stage import Stage
from controller.faults import find
from controller.faults.base import Fault
from controller.faults.ledger import Ledger, Skipped
from controller.faults.targets import BUSIEST, busiest
from controller.journal import ControllerJournal
from controller.progress import Bar, Progress

POLL_S = 0.2
QUIET_POLL_S = 0.1
WITHIN_S_MIN = 60.0
LAST_LINES = 15


class NotSettled(Exception):
    """The network did not come to rest in time, so nothing can be said about what did not arrive."""


class Phases:
    def __init__(
        self, run: SettledRun, cluster: Stage, ledger: Ledger, journal: ControllerJournal, progress: Progress
    ) -> None:
        self._run = run
        self._cluster = cluster
        self._ledger = ledger
        self._journal = journal
        self._progress = progress
        self._drivers: dict[str, dict[str, Any] | None] = {}

    def play_all(self) -> None:
        """Raises NotSettled if one of the phases does not come to its end."""
        self._warm()
        self._load()
        self._heal()
        self._quiesce("quiesce")
        self._play("final", 0)
        self._quiesce("settle")

    @property
    def _within_s(self) -> float:
        """For whatever ends by settling: what the campaign allows, but no less than a busy machine needs."""
        return max(WITHIN_S_MIN, self._run.phases.heal_s)

    def _warm(self) -> None:
        self._play("warm", self._run.phases.warm_s)

    def _play(self, name: str, at_least_s: float) -> None:
        """Until every driver has played its part and everything asked for is confirmed."""
        with self._phase(name), self._progress.bar(name, at_least_s or None) as bar:
            started = self._cluster.now_s()
            self._start(name)
            while True:
                elapsed_s = self._cluster.now_s() - started
                self._look(bar, elapsed_s)
                if elapsed_s >= at_least_s and self._is_done(name):
                    return
                if elapsed_s > self._within_s + self._length_s(name):
                    raise NotSettled(f"the drivers did not finish `{name}` within {elapsed_s:.0f} s")
                self._cluster.sleep(POLL_S)

    def _length_s(self, name: str) -> float:
        return self._run.phases.warm_s if name == "warm" else self._run.phases.load_s

    def _load(self) -> None:
        schedule = Schedule(self._run.faults)
        applied: dict[int, list[Fault]] = {}
        load_s = self._run.phases.load_s
        with self._phase("load"), self._progress.bar("load", load_s) as bar:
            started = self._cluster.now_s()
            self._start("load")
            while (elapsed_s := self._cluster.now_s() - started) < load_s:
                self._perform(schedule, elapsed_s, applied)
                self._ledger.settle()
                self._look(bar, elapsed_s)
                next_s = schedule.next_s()
                wake_s = min(load_s, elapsed_s + POLL_S, load_s if next_s is None else next_s)
                self._cluster.sleep(started + wake_s - self._cluster.now_s())

    def _perform(self, schedule: Schedule, elapsed_s: float, applied: dict[int, list[Fault]]) -> None:
        for due in schedule.take(elapsed_s):
            event = schedule.events[due.number]
            if due.what == "heal":
                self._ledger.heal_some(applied.get(due.number, ()))
                continue
            for target in self._found(event.target):
                try:
                    applied.setdefault(due.number, []).append(self._ledger.apply(event.kind, target, event.args))
                except Skipped as why:
                    self._progress.say(str(why))

    def _found(self, target: str) -> tuple[str, ...]:
        """Who is busiest is seen when the time has come."""
        if not target.startswith(BUSIEST):
            return (target,)
        return busiest(target, self._cluster.statuses(self._cluster.brokers))

    def _heal(self) -> None:
        with self._phase("heal"), self._progress.bar("heal") as bar:
            started = self._cluster.now_s()
            self._ledger.heal_all()
            while True:
                self._ledger.settle()
                elapsed_s = self._cluster.now_s() - started
                self._look(bar, elapsed_s)
                if not self._ledger.healing:
                    return
                if elapsed_s > self._within_s:
                    left = self._ledger.remaining
                    healing = self._ledger.healing.values()
                    broken = ", ".join(f"{one.kind} {one.name} ({left.get(one.id, 'untold')})" for one in healing)
                    raise NotSettled(f"not healed within {elapsed_s:.0f} s: {broken}")
                self._cluster.sleep(POLL_S)

    def _quiesce(self, name: str) -> None:
        with self._phase(name), self._progress.bar(name) as bar:
            started = self._cluster.now_s()
            before: Round | None = None
            while True:
                now = Round(
                    self._cluster.statuses(self._cluster.brokers), self._cluster.statuses(self._cluster.drivers)
                )
                moving = unrest(before, now)
                if moving is None:
                    break
                elapsed_s = self._cluster.now_s() - started
                bar.to(elapsed_s, moving)
                self._check_alive()
                if elapsed_s > self._within_s:
                    raise NotSettled(f"the network was not quiet after {elapsed_s:.0f} s: {moving}")
                before = now
                self._cluster.sleep(QUIET_POLL_S)
        with self._phase("quiet"):
            pass

    def _start(self, name: str) -> None:
        for driver in self._cluster.drivers:
            self._cluster.play(driver, name)

    def _is_done(self, name: str) -> bool:
        return all(one is not None and one["phase"] == name and one["done"] for one in self._drivers.values())

    def _look(self, bar: Bar, elapsed_s: float) -> None:
        self._check_alive()
        answers = self._cluster.statuses(self._cluster.drivers, 1.0)
        # A driver too busy to answer in time has not forgotten what it has done.
        self._drivers = {name: one or self._drivers.get(name) for name, one in answers.items()}
        known = [one for one in self._drivers.values() if one is not None]
        told = [
            f"published {sum(one['published'] for one in known)}, delivered {sum(one['delivered'] for one in known)}"
        ]
        told += [f"{fault.kind} {fault.name}" for fault in self._ledger.active.values()]
        told += [f"healing {fault.name}" for fault in self._ledger.healing.values()]
        bar.to(elapsed_s, "; ".join(told))

    def _check_alive(self) -> None:
        """A node that ended without being told to will not settle anything any more."""
        faults = [*self._ledger.active.values(), *self._ledger.healing.values()]
        expected = {fault.name for fault in faults if find(fault.kind).ends_broker}
        for node, state in self._cluster.runtime.state().items():
            if state == "dead" and node not in expected:
                lines = self._cluster.runtime.last_lines(node, LAST_LINES)
                for line in lines:
                    self._progress.say(f"  {node}: {line}")
                under = ", ".join(fault.kind for fault in faults if fault.name == node)
                told = f"{node} ended by itself" + (f" (under {under})" if under else "")
                raise NotSettled(": ".join([told, *lines[-1:]]))

    @contextmanager
    def _phase(self, name: str) -> Iterator[None]:
        self._journal.phase(name, "start")
        yield
        self._journal.phase(name, "end")
