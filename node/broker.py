"""The broker's shell: sockets and clock around `BrokerState`. One thread, one loop, nothing waits but the poll."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import structlog
import zmq

from node import usage
from node.admin import AdminError, Handler, answer
from node.clock import Clock, milliseconds_until
from node.config import Config
from node.core import records
from node.core.errors import PeerError
from node.core.messages import Port, broker_port, client_port
from node.core.schemes.registry import UnknownScheme, build
from node.core.session import Limits
from node.core.state import BrokerState
from node.errors import ConfigError
from node.journal import Journal, next_incarnation
from node.refusals import Refusals
from node.security import BrokerKeys
from node.shaping import Shape, Shaping
from node.site import build_site
from node.sockets import Doorkeeper, Ready, dial, drain, send, wait
from node.store import Store
from node.version import VERSION
from node.wire import WireCodec, decode_client_id, decode_frame, encode_frames
from node.worker import Worker

SAMPLE_NS = 500_000_000
FRAMES_PER_ROUND = 200

log = structlog.get_logger()


class Broker:
    def __init__(self, config: Config, keys: BrokerKeys, clock: Clock) -> None:
        self._config = config
        self._clock = clock
        self.inc = next_incarnation(config.logs, config.node)
        try:
            scheme = build(config.scheme, build_site(config, self.inc), config.parameters)
        except UnknownScheme as error:
            raise ConfigError(str(error)) from None
        self._open_sockets(keys)
        now = clock.monotonic_ns()
        self.shaping = Shaping({name: Shape(delay_ms=link.delay_ms) for name, link in config.neighbours()})
        self.state = BrokerState(scheme, self.inc, WireCodec(scheme.controls), now, Limits())
        self._routes: dict[Port, bytes] = {}
        self._refusals = Refusals()
        self._sample_at = now
        store = Store(config.logs, config.node)
        scheme.restore(store.load())
        self._journal = Journal(config.logs, config.node, self.inc, clock.wall_ns)
        self._journal.add(records.Open, role="broker", version=VERSION, scheme=scheme.name)
        self._journal.flush()
        self.worker = Worker(self.state, self._journal, self._refusals, store, clock)
        self._requests: dict[str, Handler] = {"status": self._status, "shape": self._shape, "table": self._table}

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
        self._peers, self._clients, self._admin = (
            self._keeper.listen(door, config.bound(door), keys.broker) for door in admitted
        )
        self._lines = {
            name: dial(self._context, config.reach(name, "peers"), keys.broker, keys.broker.public)
            for name, _ in config.neighbours()
        }
        self._name = config.node.encode()

    def run(self, stopping: Callable[[], bool]) -> None:
        log.info("broker is up", node=self._config.node, inc=self.inc, scheme=self.state.scheme.name)
        while not stopping():
            self._round()
        self.state.scheme.check()
        self._tell_refusals(self._clock.monotonic_ns(), final=True)
        self._journal.add(records.Close)
        self._journal.close()
        log.info("broker ends", node=self._config.node, inc=self.inc)

    def _round(self) -> None:
        ready = wait(self._poller, self._patience_ms())
        now = self._clock.monotonic_ns()
        self._attend_doors(ready, now)
        self._take_frames(ready, now)
        self.worker.put(self.state.tick(now))
        self.worker.work()
        self._tell_refusals(now)
        self._sample(now)
        # What a killed broker sent is in its log: first the records, then the frames.
        self._journal.flush()
        self._transmit(now)
        if self._admin in ready:
            self._answer_requests()

    def _patience_ms(self) -> int:
        if self.worker.queue:
            return 0
        deadlines = [self.state.deadline(), self._sample_at]
        if (under_way := self.shaping.deadline()) is not None:
            deadlines.append(under_way)
        return milliseconds_until(min(deadlines), self._clock.monotonic_ns())

    def _attend_doors(self, ready: Ready, now: int) -> None:
        for door, why in self._keeper.attend(ready, FRAMES_PER_ROUND):
            self._refusals.note(f"connections to {door}", "connection", why, now)

    def _take_frames(self, ready: Ready, now: int) -> None:
        for take, socket in ((self._from_peer, self._peers), (self._from_client, self._clients)):
            for parts in drain(socket, FRAMES_PER_ROUND) if socket in ready else ():
                try:
                    take(parts, now)
                except PeerError as error:
                    kind = "frames from peers" if socket is self._peers else "frames from clients"
                    self._refusals.note(kind, error.what, error.why, now)

    def _from_peer(self, parts: list[bytes], now: int) -> None:
        _, sender, data = _three(parts)
        name = sender.decode("utf-8", "replace")
        if name not in self._lines:
            raise PeerError("frame", f"it names {name[:40]!a} as its sender, which is no neighbour")
        if self.shaping.admits(name):
            self.worker.put(self.state.receive(broker_port(name), decode_frame(data), now))

    def _from_client(self, parts: list[bytes], now: int) -> None:
        identity, sender, data = _three(parts)
        port = client_port(decode_client_id(sender))
        frame = decode_frame(data)
        self.worker.put(self.state.receive(port, frame, now))
        # A late frame of the client's former life must not lead answers astray.
        if frame.inc == self.state.sessions[port].peer_inc:
            self._routes[port] = identity

    def _tell_refusals(self, now: int, final: bool = False) -> None:
        for refusal in self._refusals.take(now, final):
            self._journal.add(records.Refuse, what=refusal.what, why=refusal.why)
            log.warning("refused", what=refusal.what, why=refusal.why)

    def _sample(self, now: int) -> None:
        if now < self._sample_at:
            return
        self._journal.add(
            records.Sample,
            queue=len(self.worker.queue),
            table=self.state.scheme.size(),
            unacked=self.state.unacked,
            rss=usage.rss_bytes(),
            cpu_ns=usage.cpu_ns(),
            lag_ns=now - self._sample_at,
        )
        self._sample_at = now + SAMPLE_NS

    def _transmit(self, now: int) -> None:
        for port, frame in self.state.transmit(now):
            for data in encode_frames(frame):
                if port.is_broker:
                    self.shaping.offer(port.name, data, now)
                else:
                    send(self._clients, [self._routes[port], port.name.encode(), data])
        for peer, data in self.shaping.due(now):
            send(self._lines[peer], [self._name, data])

    def _answer_requests(self) -> None:
        for parts in drain(self._admin, FRAMES_PER_ROUND):
            if len(parts) == 3:
                send(self._admin, [parts[0], parts[1], answer(parts[2], self._requests)])
            else:
                now = self._clock.monotonic_ns()
                self._refusals.note("requests", "request", f"{len(parts)} parts instead of 3", now)

    def _status(self, request: dict[str, Any]) -> dict[str, Any]:
        state, worker = self.state, self.worker
        waiting_for = state.waiting_for()
        queue, unacked = len(worker.queue), state.unacked
        return {
            "node": self._config.node,
            "inc": self.inc,
            "scheme": state.scheme.name,
            "ready": not waiting_for,
            "waiting_for": waiting_for,
            "idle": not (queue or unacked or state.unsettled),
            "queue": queue,
            "table": state.scheme.size(),
            "unacked": unacked,
            "accepted": worker.accepted,
            "handled": worker.handled,
            "forwarded": worker.forwarded,
            "links": {name: self._link(name) for name in self._lines},
            "clients": len(self._routes),
        }

    def _link(self, peer: str) -> dict[str, Any]:
        shape = self.shaping.shape(peer)
        return {
            "state": self.worker.links.get(peer, "down"),
            "inc": self.state.sessions[broker_port(peer)].peer_inc,
            "delay_ms": shape.delay_ms,
            "cut": shape.cut,
        }

    def _shape(self, request: dict[str, Any]) -> dict[str, Any]:
        peer, delay_ms, cut = request.get("peer"), request.get("delay_ms"), request.get("cut")
        if peer not in self._lines:
            raise AdminError(f"{peer!r} is no neighbour of {self._config.node}; those are {', '.join(self._lines)}")
        if delay_ms is not None and not (type(delay_ms) in (int, float) and 0 <= delay_ms <= 60_000):
            raise AdminError("delay_ms is a number from 0 to 60000")
        if cut is not None and type(cut) is not bool:
            raise AdminError("cut is true or false")
        shape = self.shaping.change(peer, delay_ms, cut)
        log.info("shape", peer=peer, delay_ms=shape.delay_ms, cut=shape.cut)
        return {"peer": peer, "delay_ms": shape.delay_ms, "cut": shape.cut}

    def _table(self, request: dict[str, Any]) -> dict[str, Any]:
        return {"entries": self.state.scheme.table()}


def _three(parts: list[bytes]) -> list[bytes]:
    if len(parts) != 3:
        raise PeerError("frame", f"{len(parts) - 1} parts instead of 2")
    return parts
