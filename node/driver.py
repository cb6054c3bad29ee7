"""The load generator: many virtual clients in one process, playing a plan at its own pace, whatever the brokers do."""

from __future__ import annotations

import heapq
from collections import Counter, deque
from collections.abc import Callable
from typing import Any

import msgspec
import structlog
import zmq

from node.admin import AdminError, Handler, answer
from node.clock import Clock, milliseconds_until
from node.config import Config
from node.core import records
from node.core.client import ClientState
from node.core.errors import PeerError
from node.core.schemes.registry import UnknownScheme, find
from node.core.session import MS, Limits
from node.errors import ConfigError
from node.journal import Journal, log_files, next_incarnation
from node.plan import PHASES, AnyOperation, read_plan, subject
from node.refusals import Refusals
from node.security import DriverKeys
from node.sockets import Doorkeeper, Outgoing, Ready, dial, drain, send, wait
from node.version import VERSION
from node.virtual import VirtualClient
from node.wire import WireCodec, check_client_id, decode_frame, encode_frames

FRAMES_PER_ROUND = 500
PATIENCE_MS = 100
# A second between signs of life is enough for clients: a broker that is not theirs any more is found by the next one.
LIMITS = Limits(heartbeat_ns=1_000 * MS)

log = structlog.get_logger()


class Driver:
    def __init__(self, config: Config, keys: DriverKeys, clock: Clock) -> None:
        self._config = config
        self._clock = clock
        self._plan = read_plan(config.plan)
        try:
            scheme = find(config.scheme)
        except UnknownScheme as error:
            raise ConfigError(str(error)) from None
        self._must_advertise = "advertisements" in scheme.needs
        self._seqs = published_before(config.logs, config.node)
        self.inc = next_incarnation(config.logs, config.node)
        self._open_sockets(keys)
        self._codec = WireCodec()
        self._clients: dict[str, VirtualClient] = {}
        self._dirty: dict[VirtualClient, None] = {}
        self._wake_at: dict[str, int] = {}
        self._wakes: list[tuple[int, str]] = []
        self._schedule: deque[tuple[int, int, AnyOperation]] = deque()
        self._played: list[str] = []
        self._refusals = Refusals()
        self._journal = Journal(config.logs, config.node, self.inc, clock.wall_ns)
        self._journal.add(records.Open, role="driver", version=VERSION, scheme=scheme.name)
        self._journal.flush()
        self._requests: dict[str, Handler] = {"status": self._status, "play": self._play}

    def _open_sockets(self, keys: DriverKeys) -> None:
        config = self._config
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context(io_threads=1)
        self._poller = zmq.Poller()
        self._keeper = Doorkeeper(self._context, self._poller, {"admin": {keys.admin: "admin"}})
        self._admin = self._keeper.listen("admin", config.bound("admin"), keys.driver)
        brokers = [name for name, ends in config.endpoints.items() if ends.clients is not None]
        self._lines = {
            name: Outgoing(dial(self._context, config.reach(name, "clients"), keys.client, keys.broker), self._poller)
            for name in sorted(brokers)
        }

    def run(self, stopping: Callable[[], bool]) -> None:
        log.info("driver is up", node=self._config.node, inc=self.inc, phases=list(self._plan))
        while not stopping():
            self._round()
        self._tell_refusals(self._clock.monotonic_ns(), final=True)
        self._journal.add(records.Close)
        self._journal.close()
        log.info("driver ends", node=self._config.node, inc=self.inc)

    def _round(self) -> None:
        ready = wait(self._poller, self._patience_ms())
        now = self._clock.monotonic_ns()
        for door, why in self._keeper.attend(ready, FRAMES_PER_ROUND):
            self._refusals.note(f"connections to {door}", "connection", why, now)
        self._take_frames(ready, now)
        self._hand_out(now)
        self._wake(now)
        dirty, self._dirty = self._dirty, {}
        for client in dirty:
            client.advance(now)
        self._tell_refusals(now)
        # The records of what was asked and published come before the frames that ask and publish it.
        self._journal.flush()
        for client in dirty:
            self._transmit(client, now)
        for line in self._lines.values():
            line.flush()
        if self._admin in ready:
            self._answer_requests()

    def _patience_ms(self) -> int:
        now = self._clock.monotonic_ns()
        dues = [due for due in (self._schedule and self._schedule[0][0], self._wakes and self._wakes[0][0]) if due]
        return min([PATIENCE_MS, *(milliseconds_until(due, now) for due in dues)])

    def _take_frames(self, ready: Ready, now: int) -> None:
        for broker, line in self._lines.items():
            for parts in drain(line.socket, FRAMES_PER_ROUND) if line.socket in ready else ():
                try:
                    self._from_broker(broker, parts, now)
                except PeerError as error:
                    self._refusals.note("frames from brokers", error.what, f"from {broker}: {error.why}", now)

    def _from_broker(self, broker: str, parts: list[bytes], now: int) -> None:
        client = self._clients.get(parts[0].decode("utf-8", "replace")) if len(parts) == 2 else None
        if client is None or not client.knows(broker):
            raise PeerError("frame", "it is for no client of this driver")
        client.take(broker, client.state.receive(broker, decode_frame(parts[1]), now))
        self._dirty[client] = None

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
            state = ClientState(check_client_id(name), self.inc, self._codec, LIMITS, self._seqs[name] + 1)
            client = VirtualClient(state, self._journal, self._lines, self._must_advertise)
            self._clients[name] = client
        return client

    def _wake(self, now: int) -> None:
        """Clients whose session has something to do by itself; no other client is looked at."""
        while self._wakes and self._wakes[0][0] <= now:
            due, name = heapq.heappop(self._wakes)
            if self._wake_at.get(name) == due:
                del self._wake_at[name]
                self._dirty[self._clients[name]] = None

    def _transmit(self, client: VirtualClient, now: int) -> None:
        name = client.name.encode()
        for broker, frame in client.state.transmit(now):
            for data in encode_frames(frame):
                self._lines[broker].put([name, data])
        due = client.state.deadline()
        # Woken too early is harmless, and keeps the heap as small as the number of clients.
        if due is not None and due < self._wake_at.get(client.name, due + 1):
            self._wake_at[client.name] = due
            heapq.heappush(self._wakes, (due, client.name))

    def _tell_refusals(self, now: int, final: bool = False) -> None:
        for refusal in self._refusals.take(now, final):
            self._journal.add(records.Refuse, what=refusal.what, why=refusal.why)
            log.warning("refused", what=refusal.what, why=refusal.why)

    def _answer_requests(self) -> None:
        for parts in drain(self._admin, FRAMES_PER_ROUND):
            if len(parts) == 3:
                send(self._admin, [parts[0], parts[1], answer(parts[2], self._requests)])

    def _status(self, request: dict[str, Any]) -> dict[str, Any]:
        pending = sum(client.pending for client in self._clients.values())
        return {
            "node": self._config.node,
            "inc": self.inc,
            "ready": True,
            "phase": self._played[-1] if self._played else None,
            "done": bool(self._played) and not self._schedule and not pending,
            "pending": pending,
            "published": sum(client.published for client in self._clients.values()),
            "delivered": sum(client.delivered for client in self._clients.values()),
            "brokers": self._in_touch(),
        }

    def _in_touch(self) -> dict[str, int]:
        """The incarnation of each broker that all its clients here are in touch with; the oldest, if they differ."""
        lowest: dict[str, int] = {}
        for client in self._clients.values():
            broker = client.state.broker
            if broker is not None:
                inc = client.state.broker_inc
                lowest[broker] = min(inc, lowest.get(broker, inc))
        return lowest

    def _play(self, request: dict[str, Any]) -> dict[str, Any]:
        phase = request.get("phase")
        known = list(dict.fromkeys([*PHASES, *self._plan]))
        if phase not in known:
            raise AdminError(f"no phase {phase!r} in the plan; known are {', '.join(known)}")
        if phase in self._played:
            raise AdminError(f"{phase} was played already")
        if self._schedule:
            raise AdminError(f"{self._played[-1]} is still being played")
        self._played.append(phase)
        start, start_t = self._clock.monotonic_ns(), self._clock.wall_ns()
        for operation in self._plan.get(phase, []):
            offset = round(operation.at_ms * MS)
            self._schedule.append((start + offset, start_t + offset, operation))
        log.info("plays", phase=phase, operations=len(self._schedule))
        return {"phase": phase, "operations": len(self._schedule)}


def published_before(logs: str, node: str) -> Counter[str]:
    """Client → its last `seq`, from the logs of earlier incarnations: numbers go on where they stopped."""
    decoder = msgspec.json.Decoder(records.Publish)
    last: Counter[str] = Counter()
    for path in log_files(logs, node).values():
        for line in path.read_bytes().splitlines():
            if b'"event":"publish"' in line:
                try:
                    record = decoder.decode(line)
                except (msgspec.MsgspecError, UnicodeDecodeError):
                    continue  # half a line, left by a kill
                last[record.client] = max(last[record.client], record.seq)
    return last
