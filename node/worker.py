"""The visible input queue of a broker, and the work on it: one item at a time, each told in the journal."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from node.clock import Clock
from node.core import records
from node.core.errors import InvariantViolation
from node.core.items import Item, Outcome, PeerDown, PeerUp
from node.core.messages import Control, Deliver, Payload, Publish, kind_of
from node.core.state import BrokerState
from node.drift import Drift
from node.journal import Journal, Level
from node.refusals import Refusals
from node.store import Keeper

BATCH_ITEMS = 64
BATCH_NS = 5_000_000
_REMEMBERED = 20


def subject_of(payload: Payload) -> tuple[str | None, str | None, str | None]:
    """Publication, subscription and advertisement that a message is about."""
    if isinstance(payload, Publish | Deliver):
        return payload.publication.msg, None, None
    if isinstance(payload, Control):
        return None, *payload.body.subject
    return None, None, None


class Worker:
    def __init__(
        self,
        state: BrokerState,
        journal: Journal,
        refusals: Refusals,
        store: Keeper,
        clock: Clock,
        drift: Drift,
        level: Level = "all",
    ) -> None:
        self._state = state
        self._journal = journal
        self._refusals = refusals
        self._store = store
        self._clock = clock
        self._drift = drift
        self._tells_publications = level != "deliveries"
        self._tells_control = level == "all"
        self.queue: deque[tuple[int, Item]] = deque()
        self._recent: deque[Item] = deque(maxlen=_REMEMBERED)
        self.links: dict[str, str] = {}
        self.accepted = 0
        self.handled = 0
        self.forwarded = 0

    def put(self, items: Iterable[Item]) -> None:
        now = self._clock.monotonic_ns()
        for item in items:
            self.queue.append((now, item))
            self.accepted += 1

    def work(self) -> None:
        """Handle a batch: as much as delays what is to be sent by no more than a few milliseconds."""
        started_at = self._clock.monotonic_ns()
        for _ in range(BATCH_ITEMS):
            if not self.queue:
                return
            arrived_at, item = self.queue.popleft()
            self._recent.append(item)
            if self._handle(item, arrived_at) - started_at > BATCH_NS:
                return

    def _handle(self, item: Item, arrived_at: int) -> int:
        before = self._clock.monotonic_ns()
        try:
            outcome = self._state.handle(item, self._drift.at(before))
        except InvariantViolation as violation:
            story = "; ".join(f"{recent.port.name}: {recent.what!r:.400}" for recent in self._recent)
            raise InvariantViolation(f"{violation}; the last inputs, oldest first: {story}") from violation
        after = self._clock.monotonic_ns()
        self.handled += 1
        self._tell(item, self._tell_input(item, before - arrived_at, after - before), outcome, after)
        # Before the caller can send anything that rests on it.
        if outcome.persist:
            self._store.append(outcome.persist)
        return after

    def _tells(self, kind: str) -> bool:
        return self._tells_publications if kind == "publication" else self._tells_control

    def _tell_input(self, item: Item, wait_ns: int, work_ns: int) -> int | None:
        what, name = item.what, item.port.name
        if isinstance(what, Payload):
            kind = kind_of(what)
            if not self._tells(kind):
                return None
            msg, sub, adv = subject_of(what)
            return self._journal.add(
                records.Handle,
                from_=name,
                kind=kind,
                msg=msg,
                sub=sub,
                adv=adv,
                wait_ns=wait_ns,
                work_ns=work_ns,
            )
        if item.port.is_broker and isinstance(what, PeerUp | PeerDown):
            state = "up" if isinstance(what, PeerUp) else "down"
            self.links[name] = state
            self._journal.add(records.Link, peer=name, state=state, reason=what.reason)
        return None

    def _tell(self, item: Item, cause: int | None, outcome: Outcome, now: int) -> None:
        self.forwarded += len(outcome.sent)
        for sent in outcome.sent:
            if not self._tells(sent.kind):
                continue
            self._journal.add(
                records.Forward,
                to=sent.to,
                kind=sent.kind,
                msg=sent.msg,
                sub=sent.sub,
                adv=sent.adv,
                entries=sent.entries,
                bytes=sent.bytes,
                cause=cause,
            )
        for what, why in outcome.refused:
            self._refusals.note(f"messages from {item.port.kind}s", what, why, now)
