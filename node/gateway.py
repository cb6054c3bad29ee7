"""The one published port: relays between programs on the host and any node, and understands nothing else."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from typing import NamedTuple

import structlog
import zmq

from node.admin import refuse
from node.clock import Clock
from node.config import Config
from node.refusals import Refusals
from node.security import GatewayKeys
from node.sockets import Doorkeeper, Ready, dial, drain, send, wait

FRAMES_PER_ROUND = 200
ROUTES_MAX = 10_000
HELD_MAX = 256
HOLD_NS = 3_000_000_000
_DOORS = {"client": "clients", "admin": "admin"}

log = structlog.get_logger()


class Parcel(NamedTuple):
    """A frame on its way to a node: `sender` is the client id or the requester."""

    identity: bytes
    node: str
    channel: str
    sender: bytes
    data: bytes


class _Line:
    """The way to one channel of one node. What comes before the connection is made waits, for a while."""

    def __init__(self, socket: zmq.Socket[bytes]) -> None:
        self.socket = socket
        self._held: deque[tuple[int, Parcel]] = deque()

    @property
    def is_holding(self) -> bool:
        return bool(self._held)

    def put(self, parcel: Parcel, now: int) -> bool:
        if not self._held and send(self.socket, [parcel.sender, parcel.data]):
            return True
        if len(self._held) >= HELD_MAX:
            return False
        self._held.append((now + HOLD_NS, parcel))
        return True

    def try_again(self, now: int) -> list[Parcel]:
        """Send what waits; returns what has waited too long."""
        while self._held and send(self.socket, [self._held[0][1].sender, self._held[0][1].data]):
            self._held.popleft()
        expired = []
        while self._held and self._held[0][0] <= now:
            expired.append(self._held.popleft()[1])
        return expired


class Gateway:
    def __init__(self, config: Config, keys: GatewayKeys, clock: Clock) -> None:
        self._config = config
        self._keys = keys
        self._clock = clock
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context(io_threads=1)
        self._poller = zmq.Poller()
        admitted = {"gateway": {keys.client.public: "client", keys.admin.public: "admin"}}
        self._keeper = Doorkeeper(self._context, self._poller, admitted)
        self._outside = self._keeper.listen("gateway", config.bound("gateway"), keys.broker)
        self._lines: dict[tuple[str, str], _Line] = {}
        self._routes: OrderedDict[tuple[str, bytes], bytes] = OrderedDict()
        self._refusals = Refusals()

    def run(self, stopping: Callable[[], bool]) -> None:
        log.info("gateway is up", endpoint=self._config.bound("gateway"))
        while not stopping():
            holding = any(line.is_holding for line in self._lines.values())
            # Nothing tells when a connection is made, so what waits for one is tried again and again.
            ready = wait(self._poller, 10 if holding else 200)
            self._round(ready, self._clock.monotonic_ns())
        log.info("gateway ends")

    def _round(self, ready: Ready, now: int) -> None:
        for door, why in self._keeper.attend(ready, FRAMES_PER_ROUND):
            self._refusals.note(f"connections to {door}", "connection", why, now)
        for _ in range(FRAMES_PER_ROUND):
            try:
                parts = self._outside.recv_multipart(flags=zmq.NOBLOCK, copy=False)
            except zmq.Again:
                break
            self._from_outside(parts, now)
        for (node, channel), line in self._lines.items():
            for parcel in line.try_again(now):
                self._give_up(parcel, f"{node} cannot be reached", now)
            for answer in drain(line.socket, FRAMES_PER_ROUND):
                self._from_node(node, channel, answer)
        for refusal in self._refusals.take(now):
            log.warning("refused", what=refusal.what, why=refusal.why)

    def _from_outside(self, frames: list[zmq.Frame], now: int) -> None:
        if len(frames) != 5:
            self._refusals.note("frames", "frame", f"{len(frames) - 1} parts instead of 4", now)
            return
        identity, node, channel, sender, data = (frame.bytes for frame in frames)
        parcel = Parcel(identity, node.decode("utf-8", "replace"), channel.decode("utf-8", "replace"), sender, data)
        if parcel.channel not in _DOORS or not 0 < len(sender) <= 200:
            self._refusals.note("frames", "frame", f"channel {parcel.channel[:40]!a} or its sender is not valid", now)
        elif parcel.channel == "admin" and frames[-1].get("User-Id") != "admin":
            self._give_up(parcel, "the clients' key does not open the admin channel", now)
        elif getattr(self._config.endpoints.get(parcel.node), _DOORS[parcel.channel], None) is None:
            known = ", ".join(self._known(_DOORS[parcel.channel]))
            self._give_up(parcel, f"no node {parcel.node[:40]!a} with that channel; known are {known}", now)
        else:
            self._remember(parcel)
            if not self._line(parcel.node, parcel.channel).put(parcel, now):
                self._give_up(parcel, f"too much waits for {parcel.node} already", now)

    def _known(self, door: str) -> list[str]:
        return sorted(node for node, ends in self._config.endpoints.items() if getattr(ends, door) is not None)

    def _remember(self, parcel: Parcel) -> None:
        key = (parcel.channel, parcel.sender)
        self._routes[key] = parcel.identity
        self._routes.move_to_end(key)
        if len(self._routes) > ROUTES_MAX:
            self._routes.popitem(last=False)

    def _line(self, node: str, channel: str) -> _Line:
        line = self._lines.get((node, channel))
        if line is None:
            keys, ends = self._keys, self._config.endpoints[node]
            # A node without a door for clients is a driver, and has the drivers' key.
            server = keys.broker.public if ends.clients is not None else keys.driver
            own = keys.admin if channel == "admin" else keys.client
            line = _Line(dial(self._context, self._config.reach(node, _DOORS[channel]), own, server))
            self._lines[node, channel] = line
            self._poller.register(line.socket, zmq.POLLIN)
        return line

    def _from_node(self, node: str, channel: str, parts: list[bytes]) -> None:
        identity = self._routes.get((channel, parts[0])) if len(parts) == 2 else None
        if identity is not None:
            send(self._outside, [identity, node.encode(), channel.encode(), *parts])

    def _give_up(self, parcel: Parcel, why: str, now: int) -> None:
        self._refusals.note(f"{parcel.channel} frames", parcel.sender.decode("utf-8", "replace"), why, now)
        if parcel.channel == "admin":
            answer = refuse(parcel.data, why)
            send(self._outside, [parcel.identity, parcel.node.encode(), b"admin", parcel.sender, answer])
