"""Which faults are applied, which are being healed. Every blow and every completed cure is recorded here.

What was done is not believed but measured: a fault counts as seen once its kind has seen it bite, and as gone once it
has seen that. What was found not to bite is a doubt about the whole run.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from typing import Any, Literal

from controller import faults
from controller.errors import BrokerlabError
from controller.faults.base import Fault, FaultKind, Hidden, Load, Unseen, Wish
from controller.faults.brokers import StrainFault
from controller.faults.lab import ClusterLab
from controller.faults.links import LinkFault
from controller.runtimes.base import NodeState

FaultPhase = Literal["apply", "heal"]
Record = Callable[[Fault, FaultPhase], None]

BITES_WITHIN_S = 15.0
CONVINCING = 2


class Skipped(Exception):
    """The fault would hit nothing; the text says why."""


class Ledger:
    def __init__(
        self, lab: ClusterLab, states: Callable[[], dict[str, NodeState]], record: Record, first_number: int = 1
    ) -> None:
        self._lab = lab
        self._states = states
        self._record = record
        self.next_number = first_number
        self.active: dict[str, Fault] = {}
        """Applied, and nobody has begun to heal it."""
        self.healing: dict[str, Fault] = {}
        self._unseen: dict[str, float] = {}
        """Not yet seen to bite -> since when it was looked for."""
        self.hidden: dict[str, str] = {}
        """Not yet seen to bite, or to be gone -> what is in the way."""
        self._against: dict[str, list[str]] = {}
        """Not yet seen to bite -> what was found instead, each time."""
        self.remaining: dict[str, str] = {}
        """Being healed -> what shows that it is not gone yet."""
        self.doubts: list[str] = []
        """Evidence that a fault did not do what it was said to do."""
        self.unmeasured: list[str] = []
        """Faults that were over before they could be measured, or hidden by others."""
        self.hit: set[str] = set()
        """Brokers that any fault was on."""

    def recall(self, applied: Iterable[Fault], healing: Iterable[Fault] = ()) -> None:
        """What an earlier command has applied, and what it has begun to heal."""
        for fault in applied:
            self.active[fault.id] = fault
            self._lab.recall(fault, _asked(fault))
        for fault in healing:
            self.healing[fault.id] = fault
            self._lab.recall_healed(fault)

    def apply(self, kind: str, target: str, args: dict[str, Any]) -> Fault:
        """Raises Skipped, with nothing recorded, if there is nothing to hit."""
        one = faults.find(kind)
        one.check(args)
        fault = Fault(f"f{self.next_number}", kind, target, args)
        if fault.on == "broker":
            state = self._states()[fault.name]
            if state in one.spares:
                raise Skipped(f"{kind} of {fault.name} skipped: it is {state} already")
        self.next_number += 1
        self.active[fault.id] = fault
        self._record(fault, "apply")
        if fault.on == "broker":
            self.hit.add(fault.name)
        try:
            one.apply(self._lab, fault)
        except BrokerlabError:
            # Half of it may have been done.
            with contextlib.suppress(BrokerlabError):
                self.heal(fault)
            raise
        self._unseen[fault.id] = self._lab.now_s()
        self._look_at(fault, one)
        return fault

    def heal(self, fault: Fault) -> None:
        """Begin to, or begin again; `settle` tells when it is complete."""
        kind = faults.find(fault.kind)
        if self.active.pop(fault.id, None) is not None and fault.id in self._unseen:
            self._last_look(fault, kind)
        self.healing[fault.id] = fault
        kind.heal(self._lab, fault)

    def heal_all(self) -> None:
        self.heal_some(self.active.values())

    def heal_some(self, chosen: Iterable[Fault]) -> None:
        """Links first, then what stands still, then the dead: ready is who has heard all its neighbours."""

        def place(fault: Fault) -> tuple[bool, bool]:
            kind = faults.find(fault.kind)
            return fault.on == "broker", kind.ends_broker

        for fault in sorted(chosen, key=place):
            self.heal(fault)

    def settle(self) -> list[Fault]:
        """Look at everything that is not certain yet; returns faults that were seen to be gone since the last time."""
        self._lab.catch_up()
        for id_ in list(self._unseen):
            if id_ in self.active:
                self._look_at(self.active[id_], faults.find(self.active[id_].kind))
        done = [fault for fault in self.healing.values() if self._is_gone(fault)]
        for fault in done:
            del self.healing[fault.id]
            self.remaining.pop(fault.id, None)
            self.hidden.pop(fault.id, None)
            self._lab.forget(fault)
            self._record(fault, "heal")
        return done

    @property
    def unseen(self) -> list[Fault]:
        """Applied, and not yet seen to bite."""
        return [self.active[id_] for id_ in self._unseen if id_ in self.active]

    @property
    def open(self) -> list[Fault]:
        """Applied, or not yet seen to be gone."""
        return [*self.active.values(), *self.healing.values()]

    def on(self, target: str) -> list[Fault]:
        return [fault for fault in self.active.values() if fault.target == target]

    def _look_at(self, fault: Fault, kind: FaultKind) -> None:
        """Evidence against it may come from the first moment; it counts when it comes again and again."""
        self.hidden.pop(fault.id, None)
        try:
            wrong = self._evidence(fault, kind)
        except Unseen as why:
            if isinstance(why, Hidden):
                self.hidden[fault.id] = str(why)
        else:
            if wrong is not None and self._lab.now_s() - self._unseen[fault.id] > BITES_WITHIN_S + _slowest_s(fault):
                self._doubt(fault, wrong)

    def _last_look(self, fault: Fault, kind: FaultKind) -> None:
        try:
            self._evidence(fault, kind)
            why = "it was over too soon to be sure"
        except Unseen as unseen:
            why = str(unseen)
        if fault.id not in self._unseen:
            return
        against = self._against.get(fault.id, [])
        if len(against) >= CONVINCING:
            self._doubt(fault, against[-1])
        else:
            self._seen(fault)
            self.unmeasured.append(f"{fault.id}, {fault.kind} of {fault.name}: {why}")

    def _evidence(self, fault: Fault, kind: FaultKind) -> str | None:
        try:
            wrong = kind.lacks(self._lab, fault)
        except BrokerlabError as error:
            wrong = str(error)
        if wrong is None:
            self._seen(fault)
        else:
            self._against.setdefault(fault.id, []).append(wrong)
        return wrong

    def _seen(self, fault: Fault) -> None:
        del self._unseen[fault.id]
        self.hidden.pop(fault.id, None)
        self._against.pop(fault.id, None)

    def _doubt(self, fault: Fault, wrong: str) -> None:
        self._seen(fault)
        self.doubts.append(f"{fault.id}, {fault.kind} of {fault.name}, did not bite: {wrong}")

    def _is_gone(self, fault: Fault) -> bool:
        self.hidden.pop(fault.id, None)
        try:
            left = faults.find(fault.kind).remains(self._lab, fault)
        except Hidden as why:
            self.hidden[fault.id] = self.remaining[fault.id] = str(why)
            return False
        except Unseen as why:
            self.remaining.setdefault(fault.id, str(why))
            return False
        except BrokerlabError as error:
            left = str(error)
        if left is not None:
            self.remaining[fault.id] = left
        return left is None


def _asked(fault: Fault) -> Wish | Load | None:
    kind = faults.find(fault.kind)
    if isinstance(kind, LinkFault):
        return kind.wish(fault)
    return kind.load(fault) if isinstance(kind, StrainFault) else None


def _slowest_s(fault: Fault) -> float:
    """A slow link takes its time to show how slow it is."""
    return 3 * max(fault.args.get("delay_ms", 0), fault.args.get("jitter_ms", 0)) / 1e3
