"""Messages <-> bytes: msgpack behind a version byte; nothing is ever unpickled or evaluated."""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import Any

import msgspec
from msgspec import structs

from node.core.errors import PeerError
from node.core.messages import (
    COMMON_BODIES,
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
FRAME_BYTES_MAX = 16 * 1024 * 1024
# Fresh frames stay far below what is refused, so that only a single oversized payload could ever pass the limit.
_SPLIT_BYTES = 1024 * 1024
CONTENT_BYTES_MAX = 1024 * 1024
_ID_BYTES_MAX = 200
_PREFIX = bytes([VERSION])

_frame_encoder = msgspec.msgpack.Encoder()
_frame_decoder = msgspec.msgpack.Decoder(Frame[bytes])


def encode_frames(frame: Frame[bytes]) -> list[bytes]:
    """The bytes of a frame; of several frames that say the same if it carries very much."""
    if sum(map(len, frame.payloads)) <= _SPLIT_BYTES:
        return [encode_frame(frame)]
    pieces: list[bytes] = []
    loose, seq, piece, size = frame.loose, frame.seq, [frame.payloads[0]], len(frame.payloads[0])
    for payload in frame.payloads[1:]:
        if size + len(payload) > _SPLIT_BYTES:
            pieces.append(encode_frame(structs.replace(frame, seq=seq, payloads=piece, loose=loose)))
            loose, seq, piece, size = [], seq + len(piece), [], 0
        piece.append(payload)
        size += len(payload)
    pieces.append(encode_frame(structs.replace(frame, seq=seq, payloads=piece, loose=loose)))
    return pieces


def encode_frame(frame: Frame[bytes]) -> bytes:
    return _PREFIX + _frame_encoder.encode(frame)


def decode_frame(data: bytes) -> Frame[bytes]:
    if len(data) > FRAME_BYTES_MAX:
        raise PeerError("frame", f"{len(data)} bytes are more than the {FRAME_BYTES_MAX} allowed")
    if not data or data[0] != VERSION:
        raise PeerError("frame", f"version {data[0] if data else 'none'}, this node speaks {VERSION}")
    try:
        frame = _frame_decoder.decode(memoryview(data)[1:])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise PeerError("frame", f"not decodable: {error}") from None
    if frame.inc < 1 or frame.seq < 1 or min(frame.peer_inc, frame.ack, frame.credit, frame.early) < 0:
        raise PeerError("frame", "a number in it is out of range")
    return frame


def decode_client_id(data: bytes) -> str:
    return check_client_id(_decode_name(data))


def check_client_id(text: str) -> str:
    if not text or ":" in text or not text.isprintable() or len(text.encode()) > _ID_BYTES_MAX:
        raise PeerError("client id", f"{text[:40]!a} is empty, too long, or has a character that is not allowed")
    return text


def _decode_name(data: bytes) -> str:
    try:
        return data[: _ID_BYTES_MAX + 1].decode()
    except UnicodeDecodeError:
        raise PeerError("client id", "not UTF-8") from None


class WireCodec:
    """Payloads of one scheme: its own control bodies are part of the union that is decoded."""

    def __init__(self, controls: tuple[type[Body], ...] = COMMON_BODIES) -> None:
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
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise PeerError("payload", f"not decodable: {error}") from None
        return Control(payload.mid, payload.body) if isinstance(payload, self._control) else payload
