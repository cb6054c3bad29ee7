"""Ways from a publisher over one hop to a subscriber, both held by this process: through a broker, or a bare relay."""

from __future__ import annotations

import secrets
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Protocol

import zmq

from node.core.client import ClientState, Delivery, Established
from node.core.messages import Publication, Publish
from node.core.records import Content
from node.core.session import Limits
from node.security import KeyPair
from node.sockets import Outgoing, dial, drain
from node.wire import WireCodec, decode_frame, encode_frames
from tests.integration.lab import ROOT, Lab, until

MESSAGE_BYTES = 200
# As many as a session's credit lets through, so that both ways have the same number under way.
UNDER_WAY_MAX = Limits().credit


def content_of(size: int) -> Content:
    """A content whose publication takes so many bytes on the wire."""
    bare = WireCodec().encode(Publish(Publication("pub:100", "pub", 100, "attr", {"price": 5, "pad": ""})))
    return {"price": 5, "pad": "x" * (size - len(bare) - 1)}


class Way(Protocol):
    def pid(self) -> int: ...
    def has_room(self) -> bool: ...
    def send(self) -> None: ...
    def take(self, wait_ms: int) -> int:
        """Let things move for so long at most; returns how many messages the subscriber got."""


class OneBroker(Lab):
    def __init__(self, where: Path) -> None:
        super().__init__(where, links=())
        # A lab's brokers are the ends of its links; this one has none.
        self.brokers = ["b1"]
        prefix = f"ipc://@brokerlab-bench-{secrets.token_hex(6)}"
        self.endpoints["b1"] = {door: f"{prefix}-{door}" for door in ("peers", "clients", "admin")}
        self.topology["brokers"] = [{"name": "b1", "role": "inner", "group": "b1"}]

    def pid(self, node: str) -> int:
        return self._processes[node].pid


class Attached:
    """A client at the broker's own door, without the gateway."""

    def __init__(self, lab: OneBroker, name: str, poller: zmq.Poller) -> None:
        self.state = ClientState(name, 1, WireCodec(), Limits())
        self.state.attach("b1", time.monotonic_ns())
        self._line = Outgoing(lab.dial("b1", "clients"), poller)
        self._name = name.encode()

    def transmit(self) -> None:
        for _, frame in self.state.transmit(time.monotonic_ns()):
            for data in encode_frames(frame):
                self._line.put([self._name, data])
        self._line.flush()

    def receive(self) -> list[object]:
        now = time.monotonic_ns()
        return [
            event
            for parts in drain(self._line.socket, UNDER_WAY_MAX)
            for event in self.state.receive("b1", decode_frame(parts[1]), now)
        ]


class BrokerWay:
    """Publisher and subscriber at a real broker, with everything that belongs to it: keys, sessions, journal."""

    def __init__(self, where: Path) -> None:
        self._lab = OneBroker(where)
        self._content = content_of(MESSAGE_BYTES)

    def __enter__(self) -> BrokerWay:
        self._lab.start("b1")
        self._lab.wait_ready("b1")
        self._poller = zmq.Poller()
        self._publisher, self._subscriber = (Attached(self._lab, name, self._poller) for name in ("pub", "sub"))
        self._subscriber.state.subscribe("s1", "price > 0")
        until(lambda: self._has_established() and self.has_room(), "the subscription is established")
        return self

    def pair(self, role: str) -> KeyPair:
        return self._lab.pair(role)

    def _has_established(self) -> bool:
        self._move(20)
        return self._subscriber.state.held["s1"].state == "confirmed"

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lab.__exit__(kind, error, trace)

    def pid(self) -> int:
        return self._lab.pid("b1")

    def has_room(self) -> bool:
        return self._publisher.state.can_publish

    def send(self) -> None:
        self._publisher.state.publish(self._content)

    def take(self, wait_ms: int) -> int:
        return sum(isinstance(event, Delivery) for event in self._move(wait_ms))

    def _move(self, wait_ms: int) -> list[object]:
        self._publisher.transmit()
        self._subscriber.transmit()
        self._poller.poll(wait_ms)
        events = self._subscriber.receive()
        for event in events:
            if isinstance(event, Delivery):
                self._subscriber.state.consumed("b1")
        assert all(isinstance(event, Delivery | Established) for event in events)
        self._publisher.receive()
        return events


class RelayWay:
    """The same two ends at a bare relay; with a key pair the connections are encrypted as a broker's are."""

    def __init__(self, where: Path, keys: Callable[[str], KeyPair] | None = None) -> None:
        self._endpoint = f"ipc://@brokerlab-bench-{secrets.token_hex(6)}-relay"
        self._key_file = [] if keys is None else [str(where / "broker-keys.json")]
        self._keys = keys
        self._data = b"x" * MESSAGE_BYTES
        self._under_way = 0

    def __enter__(self) -> RelayWay:
        command = [sys.executable, "-m", "tests.bench.relay", self._endpoint, *self._key_file]
        self._process = subprocess.Popen(command, cwd=ROOT)
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        self._publisher = self._dial(b"pub")
        self._subscriber = self._dial(b"sub")
        self._poller = zmq.Poller()
        self._poller.register(self._subscriber, zmq.POLLIN)
        # A ROUTER drops what is for somebody it has not heard of.
        self._subscriber.send_multipart([b"sub", b"hello"])
        until(lambda: self._poller.poll(20), "the relay answers")
        self._subscriber.recv_multipart()
        return self

    def _dial(self, identity: bytes) -> zmq.Socket[bytes]:
        if self._keys is None:
            socket = self._context.socket(zmq.DEALER)
        else:
            socket = dial(self._context, self._endpoint, self._keys("client"), self._keys("broker").public)
            socket.disconnect(self._endpoint)
            socket.setsockopt(zmq.IMMEDIATE, 0)
        socket.setsockopt(zmq.IDENTITY, identity)
        socket.connect(self._endpoint)
        return socket

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait(5)
        self._context.destroy(linger=0)

    def pid(self) -> int:
        return self._process.pid

    def has_room(self) -> bool:
        return self._under_way < UNDER_WAY_MAX

    def send(self) -> None:
        self._publisher.send_multipart([b"sub", self._data])
        self._under_way += 1

    def take(self, wait_ms: int) -> int:
        self._poller.poll(wait_ms)
        got = sum(1 for _ in drain(self._subscriber, UNDER_WAY_MAX))
        self._under_way -= got
        return got
