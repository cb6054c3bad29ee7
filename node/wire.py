"""Messages <-> bytes: msgpack behind a version byte; nothing is ever unpickled or evaluated."""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import Any

import msgspec

from node.core.errors import PeerError
from node.core.messages import (
    Body,
    Control,
    Deliver,
    Payload,
    Publish,
    Refused,
    Settled,
)
from node.core.session import Frame

VERSION = 1
FRAME_BYTES_MAX = 4 * 1024 * 1024
_PREFIX = bytes([VERSION])

_frame_encoder = msgspec.msgpack.Encoder()
_frame_decoder = msgspec.msgpack.Decoder(Frame[bytes])


def encode_frame(frame: Frame[bytes]) -> bytes:
    return _PREFIX + _frame_encoder.encode(frame)


def decode_frame(data: bytes) -> Frame[bytes]:
    if len(data) > FRAME_BYTES_MAX:
        raise PeerError("frame", f"{len(data)} bytes are more than the {FRAME_BYTES_MAX} allowed")
    if not data or data[0] != VERSION:
        raise PeerError("frame", f"version {data[0] if data else 'none'}, this broker speaks {VERSION}")
    try:
        return _frame_decoder.decode(memoryview(data)[1:])
    except (msgspec.DecodeError, RecursionError) as error:
        raise PeerError("frame", f"not decodable: {error}") from None


class WireCodec:
    """Payloads of one scheme: its own control bodies are part of the union that is decoded."""

    def __init__(self, controls: tuple[type[Body], ...]) -> None:
        bodies: Any = reduce(or_, controls)
        control = msgspec.defstruct(
            "Control", [("mid", int), ("body", bodies)], bases=(), frozen=True, array_like=True, tag="c"
        )
        self._control: Any = control
        self._encoder = msgspec.msgpack.Encoder()
        self._decoder = msgspec.msgpack.Decoder(Publish | Deliver | Settled | Refused | control)

    def encode(self, payload: Payload) -> bytes:
        return self._encoder.encode(payload)

    def decode(self, data: bytes) -> Payload:
        try:
            payload = self._decoder.decode(data)
        except (msgspec.DecodeError, RecursionError) as error:
            raise PeerError("payload", f"not decodable: {error}") from None
        return Control(payload.mid, payload.body) if isinstance(payload, self._control) else payload
