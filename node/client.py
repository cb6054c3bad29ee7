"""The client people use from their own programs.

    with Client.from_cluster("runs/latest/cluster.json", broker="b1") as client:
        client.subscribe("price > 10")
        for message in client:
            print(message.content)

It has no thread: heartbeats and repairs happen while one of its methods runs. A program that does not call it for two
minutes is taken for dead; its subscriptions are made again by the next call.
"""

from __future__ import annotations

import secrets
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import msgspec
import zmq
from msgspec import Struct

from node.clock import milliseconds_until
from node.core.client import ClientState, Delivery, RefusedByBroker
from node.core.errors import PeerError
from node.core.filters import EVERYTHING
from node.core.messages import Advertise
from node.core.records import Content, Lang
from node.core.session import Limits
from node.errors import ConfigError
from node.security import ClientKeys, read_client_keys
from node.sockets import Outgoing, dial, drain
from node.wire import CONTENT_BYTES_MAX, WireCodec, check_client_id, decode_frame, encode_frames

SECOND_NS = 1_000_000_000
TIMEOUT_S = 10.0
_LEAVE_S = 2.0


class Message(Struct, frozen=True):
    content: Content
    lang: Lang
    msg: str
    publisher: str
    seq: int
    subs: tuple[str, ...]


class Client:
    def __init__(
        self,
        connect: str,
        broker: str,
        keys: ClientKeys | Mapping[str, Any],
        name: str | None = None,
        needs: Collection[str] = (),
    ) -> None:
        """`connect` is the gateway's endpoint; `needs` is what the scheme needs of clients, as in cluster.json."""
        known = read_client_keys(keys)
        try:
            self.name = check_client_id(name or f"client-{secrets.token_hex(4)}")
        except PeerError as error:
            raise ConfigError(str(error)) from None
        self.broker = broker
        self._gateway = connect
        self._needs = frozenset(needs)
        self._token = secrets.token_hex(4)
        self._asked = 0
        self._inbox: deque[Delivery] = deque()
        self._refused: dict[str, str] = {}
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context(io_threads=1)
        self._socket = dial(self._context, connect, known.client, known.server)
        self._poller = zmq.Poller()
        self._line = Outgoing(self._socket, self._poller)
        self._state = ClientState(self.name, time.time_ns(), WireCodec(), Limits())
        self._state.attach(broker, time.monotonic_ns())

    @classmethod
    def from_cluster(cls, cluster: str | Path | Mapping[str, Any], broker: str, name: str | None = None) -> Client:
        """From cluster.json, as a path or already read."""
        if not isinstance(cluster, Mapping):
            try:
                cluster = msgspec.json.decode(Path(cluster).read_bytes(), type=dict[str, Any])
            except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
                raise ConfigError(f"{cluster} cannot be read as a cluster.json: {error}") from None
        try:
            brokers = [entry["name"] for entry in cluster["topology"]["brokers"]]
            gateway, keys, needs = cluster["gateway"], cluster["keys"], cluster.get("needs", ())
        except (KeyError, TypeError) as error:
            raise ConfigError(f"the description of the cluster lacks {error}") from None
        if broker not in brokers:
            raise ConfigError(f"no broker {broker!r} in this cluster; known are {', '.join(brokers)}")
        return cls(gateway, broker, keys, name, needs)

    def subscribe(self, text: str, lang: Lang = "attr", wait: bool = True, timeout_s: float = TIMEOUT_S) -> str:
        """Ask for what matches the filter; returns the subscription's id, once it counts if `wait`."""
        sub = self._new_id("s")
        self._state.subscribe(sub, text, lang)
        self._settle(sub, f"the subscription `{text}`", wait, timeout_s)
        return sub

    def advertise(self, text: str, lang: Lang = "attr", wait: bool = True, timeout_s: float = TIMEOUT_S) -> str:
        """Say what will be published; returns the advertisement's id."""
        adv = self._new_id("a")
        self._state.advertise(adv, text, lang)
        self._settle(adv, f"the advertisement `{text}`", wait, timeout_s)
        return adv

    def unsubscribe(self, sub: str, wait: bool = True, timeout_s: float = TIMEOUT_S) -> None:
        self._cancel(self._state.unsubscribe, sub, "subscription", wait, timeout_s)

    def unadvertise(self, adv: str, wait: bool = True, timeout_s: float = TIMEOUT_S) -> None:
        self._cancel(self._state.unadvertise, adv, "advertisement", wait, timeout_s)

    def publish(self, content: Content, lang: Lang = "attr", timeout_s: float = TIMEOUT_S) -> str:
        """Publish once the broker has room for it; returns the message's id."""
        if len(msgspec.json.encode(content)) > CONTENT_BYTES_MAX:
            raise ValueError(f"the content has more than {CONTENT_BYTES_MAX} bytes")
        advs = [held for held in self._state.held.values() if isinstance(held.body, Advertise)]
        if "advertisements" in self._needs and not advs:
            self.advertise(EVERYTHING[lang], lang, timeout_s=timeout_s)
        if advs and not any(held.filter.lang == lang and held.filter.matches(content) for held in advs):
            raise ValueError("none of this client's advertisements matches the content: advertise before you publish")
        state = self._state
        self._wait(lambda: state.can_publish and state.may_publish(content, lang), "room for a publication", timeout_s)
        publication = state.publish(content, lang)
        self._pump(0)
        return publication.msg

    def receive(self, timeout_s: float | None = None) -> Message | None:
        """The next message; None if there is none in time."""
        deadline = None if timeout_s is None else time.monotonic_ns() + round(timeout_s * SECOND_NS)
        while not self._inbox:
            now = time.monotonic_ns()
            if deadline is not None and now >= deadline:
                return None
            self._pump(1_000 if deadline is None else milliseconds_until(deadline, now))
        delivery = self._inbox.popleft()
        # Only what the program has taken makes room for more: a slow program slows the publishers.
        self._state.consumed(delivery.broker)
        made = delivery.publication
        return Message(made.content, made.lang, made.msg, made.publisher, made.seq, delivery.subs)

    def flush(self, timeout_s: float = TIMEOUT_S) -> None:
        """Wait until the broker has confirmed all that was asked for and published."""
        self._wait(lambda: self._state.pending == 0, "everything that was sent", timeout_s)

    def __iter__(self) -> Iterator[Message]:
        while (message := self.receive()) is not None:
            yield message

    def close(self) -> None:
        """Leave in order, so that the broker need not find out by silence."""
        if self._socket.closed:
            return
        self._state.detach()
        deadline = time.monotonic_ns() + round(_LEAVE_S * SECOND_NS)
        while self._state.pending and (now := time.monotonic_ns()) < deadline:
            self._pump(milliseconds_until(deadline, now))
        self._socket.close()
        self._context.term()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _new_id(self, letter: str) -> str:
        self._asked += 1
        return f"{self.name}.{self._token}.{letter}{self._asked}"

    def _settle(self, key: str, what: str, wait: bool, timeout_s: float) -> None:
        if not wait:
            self._pump(0)
            return
        held = self._state.held[key]
        self._wait(lambda: held.state == "confirmed" or key in self._refused, what, timeout_s)
        if key in self._refused:
            raise ValueError(f"{self.broker} refused {what}: {self._refused[key]}")

    def _cancel(self, cancel: Callable[[str], None], key: str, noun: str, wait: bool, timeout_s: float) -> None:
        held = self._state.held.get(key)
        if held is None:
            raise ValueError(f"{key} is no {noun} of this client")
        self._wait(lambda: held.state == "confirmed", f"the {noun} {key}", timeout_s)
        cancel(key)
        if wait:
            self._wait(lambda: key not in self._state.held, f"the end of the {noun} {key}", timeout_s)
        else:
            self._pump(0)

    def _wait(self, condition: Callable[[], bool], what: str, timeout_s: float) -> None:
        deadline = time.monotonic_ns() + round(timeout_s * SECOND_NS)
        while not condition():
            now = time.monotonic_ns()
            if now >= deadline:
                raise TimeoutError(
                    f"{self.broker} has not confirmed {what} within {timeout_s:g} s; is the cluster up, "
                    f"is {self.broker} alive, and is {self._gateway} its gateway?"
                )
            self._pump(milliseconds_until(deadline, now))

    def _pump(self, wait_ms: int) -> None:
        """One round: send what is due, wait for something to come, take it."""
        if self._socket.closed:
            raise ValueError("this client is closed")
        self._transmit()
        due_at = self._state.deadline()
        due_ms = wait_ms if due_at is None else milliseconds_until(due_at, time.monotonic_ns())
        self._poller.poll(min(wait_ms, due_ms))
        for parts in drain(self._socket, 1_000):
            self._take(parts)
        self._transmit()

    def _transmit(self) -> None:
        name = self.name.encode()
        for broker, frame in self._state.transmit(time.monotonic_ns()):
            for data in encode_frames(frame):
                self._line.put([broker.encode(), b"client", name, data])
        self._line.flush()

    def _take(self, parts: list[bytes]) -> None:
        if len(parts) != 4 or parts[2] != self.name.encode() or parts[0] != self.broker.encode():
            return
        try:
            events = self._state.receive(self.broker, decode_frame(parts[3]), time.monotonic_ns())
        except PeerError as error:
            raise ConnectionError(f"{self.broker} does not speak this client's protocol: {error}") from None
        for event in events:
            if isinstance(event, Delivery):
                self._inbox.append(event)
            elif isinstance(event, RefusedByBroker):
                self._refused[event.what] = event.why
