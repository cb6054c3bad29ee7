"""All virtual clients of a driver, playing their plan at its own pace, whatever the brokers do.

The driver's shell puts sockets around them, the simulator a virtual wire.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Collection, Mapping
from typing import Any, Literal, NamedTuple

from node.clock import Clock
from node.core import records
from node.core.client import ClientState
from node.core.errors import PeerError
from node.core.schemes.base import Scheme
from node.core.session import MS, Frame, Limits
from node.journal import Journal
from node.plan import PHASES, AnyOperation, Plan, subject
from node.refusals import Refusal, Refusals
from node.version import VERSION
from node.virtual import VirtualClient
from node.wire import WireCodec, check_client_id

# What a client that stands still would find in its socket when it goes on; the broker sends the rest again.
FRAMES_KEPT_MAX = 500
# A second between signs of life is enough for clients: a broker that is not theirs any more is found by the next one.
LIMITS = Limits(heartbeat_ns=1_000 * MS)


class Unplayable(Exception):
    """A phase that cannot be played now; the text says why."""


Absence = Literal["crashed", "paused"]


class Outbound(NamedTuple):
    client: str
    broker: str
    frame: Frame[bytes]


class Cast:
    def __init__(
        self,
        node: str,
        plan: Plan,
        scheme: type[Scheme],
        brokers: Collection[str],
        journal: Journal,
        clock: Clock,
        seqs: Mapping[str, int],
        warn: Callable[[Refusal], None],
        limits: Limits = LIMITS,
    ) -> None:
        """`seqs`: client → its last `seq` in earlier incarnations of the driver."""
        self._node = node
        self._plan = plan
        self._names = {operation.client for operations in plan.values() for operation in operations}
        self._brokers = brokers
        self._must_advertise = "advertisements" in scheme.needs
        self._seqs = seqs
        self._limits = limits
        self._clock = clock
        self._codec = WireCodec()
        self._clients: dict[str, VirtualClient] = {}
        self._dirty: dict[VirtualClient, None] = {}
        self._wake_at: dict[str, int] = {}
        self._wakes: list[tuple[int, str]] = []
        self._schedule: deque[tuple[int, int, AnyOperation]] = deque()
        self._played: list[str] = []
        self._away: dict[str, Absence] = {}
        self._kept: dict[str, deque[tuple[str, Frame[bytes]]]] = {}
        self._refusals = Refusals()
        self._warn = warn
        self._journal = journal
        journal.add(records.Open, role="driver", version=VERSION, scheme=scheme.name)
        journal.flush()

    def take(self, client_id: str, broker: str, frame: Frame[bytes], now: int) -> None:
        """A frame from a broker to one of the clients; raises PeerError."""
        client = self._clients.get(client_id)
        if client is None or not client.knows(broker):
            raise PeerError("frame", "it is for no client of this driver")
        if client_id in self._away:
            if self._away[client_id] == "paused":
                self._kept.setdefault(client_id, deque(maxlen=FRAMES_KEPT_MAX)).append((broker, frame))
            return
        client.take(broker, client.state.receive(broker, frame, now))
        self._dirty[client] = None

    def refuse(self, kind: str, what: str, why: str, now: int) -> None:
        self._refusals.note(kind, what, why, now)

    def turn(self, now: int) -> list[Outbound]:
        """Do what is due; returns what is to be sent, which is in the log by then."""
        if not self._journal.flush():
            return []  # the disk is full: nothing can be told, so nothing is done
        self._hand_out(now)
        self._wake(now)
        dirty = {client: None for client in self._dirty if client.name not in self._away}
        self._dirty = {}
        for client in dirty:
            client.advance(now)
        self._tell_refusals(now)
        # The records of what was asked and published come before the frames that ask and publish it.
        if not self._journal.flush():
            self._dirty = {**dirty, **self._dirty}
            return []
        return [outbound for client in dirty for outbound in self._transmit(client, now)]

    def deadline(self) -> int | None:
        dues = [due for due in (self._schedule and self._schedule[0][0], self._wakes and self._wakes[0][0]) if due]
        return min(dues, default=None)

    def close(self) -> None:
        """The orderly end."""
        self._tell_refusals(self._clock.monotonic_ns(), final=True)
        self._journal.add(records.Close)
        self._journal.close()

    def _hand_out(self, now: int) -> None:
        """Give each client what its plan says it does now."""
        while self._schedule and self._schedule[0][0] <= now:
            _, intended_t, operation = self._schedule.popleft()
            try:
                client = self._client(operation.client)
            except PeerError as error:
                self._journal.add(records.Refuse, what=subject(operation), why=str(error))
                continue
            client.todo.append((operation, intended_t))
            self._dirty[client] = None

    def _client(self, name: str) -> VirtualClient:
        client = self._clients.get(name)
        if client is None:
            first_seq = self._seqs.get(name, 0) + 1
            state = ClientState(check_client_id(name), self._journal.inc, self._codec, self._limits, first_seq)
            client = VirtualClient(state, self._journal, self._brokers, self._must_advertise)
            self._clients[name] = client
        return client

    def _wake(self, now: int) -> None:
        """Clients whose session has something to do by itself; no other client is looked at."""
        while self._wakes and self._wakes[0][0] <= now:
            due, name = heapq.heappop(self._wakes)
            if self._wake_at.get(name) == due:
                del self._wake_at[name]
                self._dirty[self._clients[name]] = None

    def _transmit(self, client: VirtualClient, now: int) -> list[Outbound]:
        frames = [Outbound(client.name, broker, frame) for broker, frame in client.state.transmit(now)]
        due = client.state.deadline()
        # Woken too early is harmless, and keeps the heap as small as the number of clients.
        if due is not None and due < self._wake_at.get(client.name, due + 1):
            self._wake_at[client.name] = due
            heapq.heappush(self._wakes, (due, client.name))
        return frames

    def _tell_refusals(self, now: int, final: bool = False) -> None:
        for refusal in self._refusals.take(now, final):
            self._journal.add(records.Refuse, what=refusal.what, why=refusal.why)
            self._warn(refusal)

    def leave(self, client: str, how: Absence) -> None:
        """Crashed, it has lost what was under way to it; its session, as its subscriptions, is on its disk."""
        self._check_known(client)
        if how == "crashed":
            self._kept.pop(client, None)
        # Who has crashed does not stand still.
        self._away[client] = "crashed" if self._away.get(client) == "crashed" else how

    def come_back(self, client: str, now: int) -> None:
        self._check_known(client)
        self._away.pop(client, None)
        for broker, frame in self._kept.pop(client, ()):
            try:
                self.take(client, broker, frame, now)
            except PeerError as error:
                self.refuse("frames from brokers", error.what, f"from {broker}: {error.why}", now)
        if client in self._clients:
            self._dirty[self._clients[client]] = None

    def _check_known(self, client: str) -> None:
        if client not in self._names:
            raise Unplayable(f"{self._node} has no client {client!r}")

    def status(self) -> dict[str, Any]:
        pending = sum(client.pending for client in self._clients.values())
        return {
            "node": self._node,
            "inc": self._journal.inc,
            "ready": True,
            "phase": self._played[-1] if self._played else None,
            "done": bool(self._played) and not self._schedule and not pending,
            "pending": pending,
            "published": sum(client.published for client in self._clients.values()),
            "delivered": sum(client.delivered for client in self._clients.values()),
            "brokers": self._in_touch(),
            "away": dict(self._away),
        }

    def _in_touch(self) -> dict[str, int]:
        """The incarnation of each broker that all its clients here are in touch with; the oldest, if they differ."""
        lowest: dict[str, int] = {}
        for client in self._clients.values():
            for broker in client.state.brokers:
                inc = client.state.broker_inc(broker)
                lowest[broker] = min(inc, lowest.get(broker, inc))
        return lowest

    def play(self, phase: str) -> dict[str, Any]:
        known = list(dict.fromkeys([*PHASES, *self._plan]))
        if phase not in known:
            raise Unplayable(f"no phase {phase!r} in the plan; known are {', '.join(known)}")
        if phase in self._played:
            raise Unplayable(f"{phase} was played already")
        if self._schedule:
            raise Unplayable(f"{self._played[-1]} is still being played")
        self._played.append(phase)
        start, start_t = self._clock.monotonic_ns(), self._clock.wall_ns()
        for operation in self._plan.get(phase, []):
            offset = round(operation.at_ms * MS)
            self._schedule.append((start + offset, start_t + offset, operation))
        return {"phase": phase, "operations": len(self._schedule)}
