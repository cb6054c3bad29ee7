"""The broker's shell: sockets and clock around `BrokerState`. One thread, one loop, nothing waits but the poll."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import msgspec
import structlog
import zmq

from node import usage
from node.admin import Handler, answer
from node.clock import Clock, milliseconds_until
from node.config import Config
from node.core.errors import PeerError
from node.core.messages import Port, broker_port, client_port
from node.core.session import Frame, Limits
from node.core.state import CLIENT_SILENCE_NS, BrokerState
from node.journal import Journal, LogFile, next_incarnation
from node.probing import Probe
from node.refusals import to_operators
from node.security import BrokerKeys
from node.shaping import Shaping
from node.sockets import Doorkeeper, Ready, dial, drain, send, wait
from node.station import Station, build_scheme, clients_wait_ns
from node.store import Store
from node.tampering import PROBE, Tampering
from node.wire import WireCodec, decode_client_id, decode_frame, encode_frames

PATIENCE_MS = 1_000
STALLED_PATIENCE_MS = 50
FRAMES_PER_ROUND = 200

log = structlog.get_logger()


class Broker:
    def __init__(self, config: Config, keys: BrokerKeys, clock: Clock) -> None:
        self._config = config
        self._clock = clock
        self.inc = next_incarnation(config.logs, config.node)
        scheme = build_scheme(config, self.inc)
        self._open_sockets(keys)
        shapes = {name: link.shape for name, link in config.neighbours()}
        self.shaping = Shaping(shapes, Random(f"{config.cluster}/{config.node}/{self.inc}/links"))
        silence_ns = clients_wait_ns(config, CLIENT_SILENCE_NS)
        self.state = BrokerState(
            scheme, self.inc, WireCodec(scheme.controls), clock.monotonic_ns(), Limits(), silence_ns
        )
        self._routes: dict[Port, bytes] = {}
        store = Store(config.logs, config.node)
        disk = LogFile(config.logs, config.node, self.inc)
        journal = Journal(config.node, self.inc, clock.wall_ns, disk)
        self.station = Station(config, self.state, journal, store, clock, usage, to_operators)
        self._tampering = Tampering(config.node, self.shaping, self.station.drift, disk, clock)
        self._requests: dict[str, Handler] = {
            "status": self._status,
            "table": self._table,
            "leave": self._leave,
            **self._tampering.handlers,
        }

    def _open_sockets(self, keys: BrokerKeys) -> None:
        config = self._config
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context(io_threads=1)
        self._poller = zmq.Poller()
        admitted = {
            "peers": {keys.broker.public: "broker"},
            "clients": {keys.client: "client"},
            "admin": {keys.admin: "admin"},
        }
        self._keeper = Doorkeeper(self._context, self._poller, admitted)
        self._admin_poller = zmq.Poller()
        self._peers, self._clients, self._admin = (
            self._keeper.listen(door, config.bound(door), keys.broker) for door in admitted
        )
        self._admin_poller.register(self._admin, zmq.POLLIN)
        self._keeper.watch(self._admin_poller)
        self._lines = {
            name: dial(self._context, config.reach(name, "peers"), keys.broker, keys.broker.public)
            for name, _ in config.neighbours()
        }
        self._name = config.node.encode()

    def run(self, stopping: Callable[[], bool]) -> None:
        log.info("broker is up", node=self._config.node, inc=self.inc, scheme=self.state.scheme.name)
        while not stopping():
            self._round()
        self.station.close()
        log.info("broker ends", node=self._config.node, inc=self.inc)

    def _round(self) -> None:
        is_stalled = self.station.is_stalled
        # Stalled, what arrives stays where it is until the log has room again; only who asks to come in is answered.
        ready = wait(self._admin_poller, STALLED_PATIENCE_MS) if is_stalled else wait(self._poller, self._patience_ms())
        now = self._clock.monotonic_ns()
        self._attend_doors(ready, now)
        if not is_stalled:
            self._take_frames(ready, now)
            self.station.work(now)
        self._send(self.station.send())
        if self._admin in ready:
            self._answer_requests()
        self._tampering.rest()

    def _patience_ms(self) -> int:
        if self.station.worker.queue:
            return 0
        now = self._clock.monotonic_ns()
        dues = [due for due in (self.station.deadline(), self.shaping.deadline()) if due is not None]
        return min([PATIENCE_MS, *(milliseconds_until(due, now) for due in dues)])

    def _attend_doors(self, ready: Ready, now: int) -> None:
        for door, why in self._keeper.attend(ready, FRAMES_PER_ROUND):
            self.station.refuse(f"connections to {door}", "connection", why, now)

    def _take_frames(self, ready: Ready, now: int) -> None:
        for take, socket in ((self._from_peer, self._peers), (self._from_client, self._clients)):
            for parts in drain(socket, FRAMES_PER_ROUND) if socket in ready else ():
                if self._tampering.strain.isolated:
                    continue
                try:
                    take(parts, now)
                except PeerError as error:
                    kind = "frames from peers" if socket is self._peers else "frames from clients"
                    self.station.refuse(kind, error.what, error.why, now)

    def _from_peer(self, parts: list[bytes], now: int) -> None:
        is_probe = len(parts) == 4 and parts[3] == PROBE
        _, sender, data = _three(parts[:3] if is_probe else parts)
        name = sender.decode("utf-8", "replace")
        if name not in self._lines:
            raise PeerError("frame", f"it names {name[:40]!a} as its sender, which is no neighbour")
        if not self.shaping.admits(name):
            return
        if is_probe:
            self._note_probe(data, now)
        else:
            self.station.take(broker_port(name), decode_frame(data), now)

    def _note_probe(self, data: bytes, now: int) -> None:
        try:
            self._tampering.probes.note(msgspec.msgpack.decode(data, type=Probe), now)
        except msgspec.DecodeError as error:
            raise PeerError("probe", f"not decodable: {error}") from None

    def _from_client(self, parts: list[bytes], now: int) -> None:
        identity, sender, data = _three(parts)
        port = client_port(decode_client_id(sender))
        frame = decode_frame(data)
        self.station.take(port, frame, now)
        # A late frame of the client's former life must not lead answers astray.
        if frame.inc == self.state.sessions[port].peer_inc:
            self._routes[port] = identity

    def _send(self, frames: list[tuple[Port, Frame[bytes]]]) -> None:
        now = self._clock.monotonic_ns()
        is_isolated = self._tampering.strain.isolated
        for port, frame in frames:
            for data in encode_frames(frame) if not is_isolated else ():
                if port.is_broker:
                    self.shaping.offer(port.name, [self._name, data], now)
                else:
                    send(self._clients, [self._routes[port], port.name.encode(), data])
        for peer, parts in self.shaping.due(now):
            if not is_isolated:
                send(self._lines[peer], parts)

    def _answer_requests(self) -> None:
        for parts in drain(self._admin, FRAMES_PER_ROUND):
            if len(parts) == 3:
                send(self._admin, [parts[0], parts[1], answer(parts[2], self._requests)])
            else:
                now = self._clock.monotonic_ns()
                self.station.refuse("requests", "request", f"{len(parts)} parts instead of 3", now)

    def _status(self, request: dict[str, Any]) -> dict[str, Any]:
        links = {name: self.station.link(name, self.shaping.shape(name)) for name in self._lines}
        own = {"links": links, "clients": len(self._routes), **self._tampering.facts()}
        return {**self.station.status(), **own}

    def _leave(self, request: dict[str, Any]) -> dict[str, Any]:
        """Take nothing more; `status` tells when everything that was taken has gone out."""
        self.station.leave()
        log.info("leaves")
        return {}

    def _table(self, request: dict[str, Any]) -> dict[str, Any]:
        return {"entries": self.state.scheme.table()}


def _three(parts: list[bytes]) -> list[bytes]:
    if len(parts) != 3:
        raise PeerError("frame", f"{len(parts) - 1} parts instead of 2")
    return parts
