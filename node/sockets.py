"""ZeroMQ with CURVE: doors that listen, lines that dial, and the keeper who decides about keys shown at the doors."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator

import zmq
from zmq.utils.monitor import recv_monitor_message

from node.errors import HostError
from node.security import Admitted, KeyPair, decide
from node.wire import FRAME_BYTES_MAX

# libzmq ends a connection over a message beyond this without a word; what is between is refused with a record.
_MESSAGE_BYTES_MAX = 4 * FRAME_BYTES_MAX
_QUEUED_MAX = 2_000
_HANDSHAKE_EVENTS = (
    zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL | zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL | zmq.EVENT_HANDSHAKE_FAILED_AUTH
)


def _common(socket: zmq.Socket[bytes]) -> None:
    socket.setsockopt(zmq.LINGER, 0)
    socket.setsockopt(zmq.SNDHWM, _QUEUED_MAX)
    socket.setsockopt(zmq.RCVHWM, _QUEUED_MAX)
    socket.setsockopt(zmq.MAXMSGSIZE, _MESSAGE_BYTES_MAX)
    socket.setsockopt(zmq.HEARTBEAT_IVL, 1_000)
    socket.setsockopt(zmq.HEARTBEAT_TIMEOUT, 5_000)
    socket.setsockopt(zmq.HANDSHAKE_IVL, 5_000)


def dial(context: zmq.Context[zmq.Socket[bytes]], endpoint: str, own: KeyPair, server_public: str) -> zmq.Socket[bytes]:
    """A DEALER that queues nothing for a node that is not there: a session sends again what matters."""
    socket = context.socket(zmq.DEALER)
    _common(socket)
    socket.setsockopt(zmq.IMMEDIATE, 1)
    socket.setsockopt(zmq.RECONNECT_IVL, 50)
    socket.setsockopt(zmq.RECONNECT_IVL_MAX, 1_000)
    socket.curve_publickey = own.public.encode()
    socket.curve_secretkey = own.secret.encode()
    socket.curve_serverkey = server_public.encode()
    try:
        socket.connect(endpoint)
    except zmq.ZMQError as error:
        socket.close()
        raise HostError(f"{endpoint} is no endpoint to connect to: {error}") from None
    return socket


def send(socket: zmq.Socket[bytes], parts: list[bytes]) -> bool:
    """Hand over without waiting; false if there is no room, or nobody there."""
    try:
        socket.send_multipart(parts, flags=zmq.NOBLOCK)
    except zmq.Again:
        return False
    except zmq.ZMQError as error:
        if error.errno != zmq.EHOSTUNREACH:
            raise
        return False
    return True


Ready = Collection[zmq.Socket[bytes]]


def wait(poller: zmq.Poller, patience_ms: int) -> Ready:
    """The sockets on which something has arrived: asking each of them costs more than a message does."""
    return {socket for socket, events in poller.poll(patience_ms) if events & zmq.POLLIN}


def drain(socket: zmq.Socket[bytes], limit: int) -> Iterator[list[bytes]]:
    """What has arrived, up to a limit, so that no socket can keep the others waiting."""
    for _ in range(limit):
        try:
            yield socket.recv_multipart(flags=zmq.NOBLOCK)
        except zmq.Again:
            return


class Outgoing:
    """A dialled socket in a poll set, with what could not be handed over yet; the oldest goes first if it is too much.

    The poll wakes up for room only while something waits for it.
    """

    def __init__(self, socket: zmq.Socket[bytes], poller: zmq.Poller) -> None:
        self.socket = socket
        self._poller = poller
        self._unsent: deque[list[bytes]] = deque(maxlen=_QUEUED_MAX)
        self._wants_room = False
        poller.register(socket, zmq.POLLIN)

    def put(self, parts: list[bytes]) -> None:
        self._unsent.append(parts)

    def forget(self) -> None:
        self._unsent.clear()

    def flush(self) -> None:
        while self._unsent and send(self.socket, self._unsent[0]):
            self._unsent.popleft()
        if self._wants_room != bool(self._unsent):
            self._wants_room = bool(self._unsent)
            self._poller.modify(self.socket, zmq.POLLIN | zmq.POLLOUT if self._wants_room else zmq.POLLIN)


class Doorkeeper:
    """Holds the listening sockets of a node and answers libzmq's questions about who may come in.

    libzmq asks over a socket (ZAP, RFC 27), which is polled together with all others: no thread is needed.
    """

    def __init__(self, context: zmq.Context[zmq.Socket[bytes]], poller: zmq.Poller, admitted: Admitted) -> None:
        self._context = context
        self._poller = poller
        self._admitted = admitted
        self._zap = context.socket(zmq.REP)
        self._zap.setsockopt(zmq.LINGER, 0)
        self._zap.bind("inproc://zeromq.zap.01")
        poller.register(self._zap, zmq.POLLIN)
        self._monitors: dict[zmq.Socket[bytes], str] = {}

    def listen(self, door: str, endpoint: str, own: KeyPair) -> zmq.Socket[bytes]:
        socket = self._context.socket(zmq.ROUTER)
        _common(socket)
        socket.curve_server = True
        socket.curve_publickey = own.public.encode()
        socket.curve_secretkey = own.secret.encode()
        socket.zap_domain = door.encode()
        monitor = socket.get_monitor_socket(_HANDSHAKE_EVENTS)
        try:
            socket.bind(endpoint)
        except zmq.ZMQError as error:
            raise HostError(f"{door} cannot listen on {endpoint}: {error}") from None
        self._monitors[monitor] = door
        self._poller.register(monitor, zmq.POLLIN)
        self._poller.register(socket, zmq.POLLIN)
        return socket

    def watch(self, poller: zmq.Poller) -> None:
        """Wake this poller too when somebody asks to come in."""
        for socket in (self._zap, *self._monitors):
            poller.register(socket, zmq.POLLIN)

    def attend(self, ready: Ready, limit: int) -> list[tuple[str, str]]:
        """Answer questions about keys; returns (door, why) for each connection that was not let in."""
        refused = []
        for request in drain(self._zap, limit) if self._zap in ready else ():
            verdict = decide(request, self._admitted)
            self._zap.send_multipart(verdict.reply)
            if verdict.refused is not None:
                door = request[2].decode("utf-8", "replace") if len(request) > 2 else "zap"
                refused.append((door, verdict.refused))
        for monitor, door in self._monitors.items():
            if monitor in ready:
                refused.extend((door, why) for why in _failures(monitor, limit))
        return refused


def _failures(monitor: zmq.Socket[bytes], limit: int) -> Iterator[str]:
    for _ in range(limit):
        try:
            event = recv_monitor_message(monitor, zmq.NOBLOCK)
        except zmq.Again:
            return
        # A key that does not open the door was told by our own decision already, with more to say about it.
        if event["event"] != zmq.EVENT_HANDSHAKE_FAILED_AUTH:
            yield f"a connection failed in the handshake ({zmq.Event(event['event']).name}, {event['value']:#x})"
