"""The load generator's shell: sockets and clock around its virtual clients."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import msgspec
import structlog
import zmq

from node.admin import AdminError, Handler, answer
from node.cast import Cast, Unplayable
from node.clock import Clock, milliseconds_until
from node.config import Config
from node.core import records
from node.core.errors import PeerError
from node.core.schemes.registry import UnknownScheme, find
from node.errors import ConfigError
from node.journal import log_files, next_incarnation, open_journal
from node.plan import read_plan
from node.refusals import to_operators
from node.security import DriverKeys
from node.sockets import Doorkeeper, Outgoing, Ready, dial, drain, send, wait
from node.wire import decode_frame, encode_frames

FRAMES_PER_ROUND = 500
PATIENCE_MS = 100

log = structlog.get_logger()


class Driver:
    def __init__(self, config: Config, keys: DriverKeys, clock: Clock) -> None:
        self._config = config
        self._clock = clock
        plan = read_plan(config.plan)
        try:
            scheme = find(config.scheme)
        except UnknownScheme as error:
            raise ConfigError(str(error)) from None
        seqs = published_before(config.logs, config.node)
        self.inc = next_incarnation(config.logs, config.node)
        self._open_sockets(keys)
        self._phases = list(plan)
        journal = open_journal(config.logs, config.node, self.inc, clock.wall_ns)
        self._cast = Cast(config.node, plan, scheme, self._lines, journal, clock, seqs, to_operators)
        self._requests: dict[str, Handler] = {
            "status": lambda _: self._cast.status(),
            "play": self._play,
            "away": self._send_away,
            "back": self._call_back,
        }

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
        log.info("driver is up", node=self._config.node, inc=self.inc, phases=self._phases)
        while not stopping():
            self._round()
        self._cast.close()
        log.info("driver ends", node=self._config.node, inc=self.inc)

    def _round(self) -> None:
        ready = wait(self._poller, self._patience_ms())
        now = self._clock.monotonic_ns()
        for door, why in self._keeper.attend(ready, FRAMES_PER_ROUND):
            self._cast.refuse(f"connections to {door}", "connection", why, now)
        self._take_frames(ready, now)
        for client, broker, frame in self._cast.turn(now):
            for data in encode_frames(frame):
                self._lines[broker].put([client.encode(), data])
        for line in self._lines.values():
            line.flush()
        if self._admin in ready:
            self._answer_requests()

    def _patience_ms(self) -> int:
        due = self._cast.deadline()
        return PATIENCE_MS if due is None else min(PATIENCE_MS, milliseconds_until(due, self._clock.monotonic_ns()))

    def _take_frames(self, ready: Ready, now: int) -> None:
        for broker, line in self._lines.items():
            for parts in drain(line.socket, FRAMES_PER_ROUND) if line.socket in ready else ():
                try:
                    self._from_broker(broker, parts, now)
                except PeerError as error:
                    self._cast.refuse("frames from brokers", error.what, f"from {broker}: {error.why}", now)

    def _from_broker(self, broker: str, parts: list[bytes], now: int) -> None:
        if len(parts) != 2:
            raise PeerError("frame", f"{len(parts)} parts instead of 2")
        self._cast.take(parts[0].decode("utf-8", "replace"), broker, decode_frame(parts[1]), now)

    def _answer_requests(self) -> None:
        for parts in drain(self._admin, FRAMES_PER_ROUND):
            if len(parts) == 3:
                send(self._admin, [parts[0], parts[1], answer(parts[2], self._requests)])

    def _play(self, request: dict[str, Any]) -> dict[str, Any]:
        try:
            played = self._cast.play(request.get("phase", ""))
        except Unplayable as error:
            raise AdminError(str(error)) from None
        log.info("plays", **played)
        return played

    def _send_away(self, request: dict[str, Any]) -> dict[str, Any]:
        client, how = str(request.get("client")), request.get("how")
        if how not in ("crashed", "paused"):
            raise AdminError("how is `crashed` or `paused`")
        try:
            self._cast.leave(client, how)
        except Unplayable as error:
            raise AdminError(str(error)) from None
        return {"client": client}

    def _call_back(self, request: dict[str, Any]) -> dict[str, Any]:
        client = str(request.get("client"))
        try:
            self._cast.come_back(client, self._clock.monotonic_ns())
        except Unplayable as error:
            raise AdminError(str(error)) from None
        return {"client": client}


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
