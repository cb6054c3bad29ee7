"""Requests of the controller: how a node answers them, and the channel through the gateway that asks them."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import Any

import msgspec
import zmq

from node.clock import milliseconds_until
from node.errors import ConfigError
from node.security import ClientKeys, read_client_keys
from node.sockets import Outgoing, dial, drain

Handler = Callable[[dict[str, Any]], dict[str, Any]]
SECOND_NS = 1_000_000_000


class AdminError(Exception):
    """A request that cannot be met; the text is the answer."""


_NO_REQUEST = (AdminError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


def answer(data: bytes, handlers: Mapping[str, Handler]) -> bytes:
    """The answer to a request; whatever comes, there is one."""
    try:
        request = _request(data)
    except _NO_REQUEST as error:
        return _refused(None, str(error))
    handler = handlers.get(str(request.get("op")))
    if handler is None:
        known = ", ".join(sorted(handlers))
        return _refused(request.get("id"), f"no operation {request.get('op')!r}; known are {known}")
    try:
        return msgspec.json.encode({"id": request.get("id"), "ok": True, **handler(request)})
    except (AdminError, msgspec.ValidationError) as error:
        return _refused(request.get("id"), str(error))


def refuse(data: bytes, why: str) -> bytes:
    """The answer in place of a node that cannot be asked."""
    try:
        return _refused(_request(data).get("id"), why, is_absent=True)
    except _NO_REQUEST:
        return _refused(None, why)


def _request(data: bytes) -> dict[str, Any]:
    request = msgspec.json.decode(data)
    if not isinstance(request, dict):
        raise AdminError("a request is a JSON object")
    return request


def _refused(request_id: Any, why: str, is_absent: bool = False) -> bytes:
    return msgspec.json.encode({"id": request_id, "ok": False, "error": why, **({"absent": True} if is_absent else {})})


class AdminChannel:
    """Asks nodes through the gateway. An answer is a dict with `ok`; if that is false, `error` says why."""

    def __init__(self, gateway: str, keys: ClientKeys | Mapping[str, Any]) -> None:
        known = read_client_keys(keys)
        if known.admin is None:
            raise ConfigError("these keys are for clients: they have no admin pair")
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context(io_threads=1)
        self._socket = dial(self._context, gateway, known.admin, known.server)
        self._poller = zmq.Poller()
        self._line = Outgoing(self._socket, self._poller)
        self._requester = f"admin-{secrets.token_hex(8)}".encode()
        self._next_id = 1

    def request(self, node: str, op: str, timeout_s: float = 5, **args: Any) -> dict[str, Any]:
        """The node's answer; raises TimeoutError if there is none."""
        found = self.request_all([node], op, timeout_s, **args)[node]
        if found is None:
            raise TimeoutError(f"{node} did not answer `{op}` within {timeout_s:g} s")
        return found

    def request_all(
        self, nodes: Iterable[str], op: str, timeout_s: float = 5, **args: Any
    ) -> dict[str, dict[str, Any] | None]:
        """Ask all at once; None for a node that has not answered in time."""
        answers: dict[str, dict[str, Any] | None] = dict.fromkeys(nodes)
        asked: dict[int, str] = {}
        for node in answers:
            asked[self._next_id] = node
            request = msgspec.json.encode({**args, "id": self._next_id, "op": op})
            self._line.put([node.encode(), b"admin", self._requester, request])
            self._next_id += 1
        deadline = time.monotonic_ns() + round(timeout_s * SECOND_NS)
        while asked and (now := time.monotonic_ns()) < deadline:
            self._line.flush()
            self._poller.poll(milliseconds_until(deadline, now))
            for parts in drain(self._socket, 1_000):
                self._take(parts, asked, answers)
        # Who asked has given up: the request must not be met later.
        self._line.forget()
        return answers

    def _take(self, parts: list[bytes], asked: dict[int, str], answers: dict[str, dict[str, Any] | None]) -> None:
        found = msgspec.json.decode(parts[-1]) if len(parts) == 4 and parts[2] == self._requester else {}
        node = asked.pop(found.pop("id", None), None)
        if node is not None:
            answers[node] = found

    def close(self) -> None:
        self._socket.close()
        self._context.term()

    def __enter__(self) -> AdminChannel:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
