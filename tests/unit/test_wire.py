from __future__ import annotations

import contextlib

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from node.core.errors import PeerError
from node.core.messages import (
    COMMON_BODIES,
    Advertise,
    Control,
    Deliver,
    Payload,
    Publication,
    Publish,
    Refused,
    Settled,
    Snapshot,
    Subscribe,
    Unsubscribe,
)
from node.core.session import Frame
from node.wire import (
    FRAME_BYTES_MAX,
    VERSION,
    WireCodec,
    check_client_id,
    decode_client_id,
    decode_frame,
    encode_frame,
    encode_frames,
)

NUMBERS = st.integers(0, 2**62)
FRAMES = st.builds(
    Frame,
    inc=st.integers(1, 2**62),
    peer_inc=NUMBERS,
    ack=NUMBERS,
    credit=NUMBERS,
    early=NUMBERS,
    seq=st.integers(1, 2**62),
    payloads=st.lists(st.binary(max_size=20), max_size=5),
    loose=st.lists(st.binary(max_size=20), max_size=2),
)

PAYLOADS: list[Payload] = [
    Publish(Publication("c1:1", "c1", 1, "attr", {"x": 1, "y": 1.5, "z": "s", "b": True}), {"hop": 3}),
    Deliver(Publication("c1:1", "c1", 1, "xpath", "<a/>"), ("s1", "s2")),
    Control(7, Subscribe("s1", "x > 1", "attr")),
    Control(8, Unsubscribe("s1")),
    Control(9, Snapshot((Subscribe("s1", "*", "attr"),), (Advertise("a1", "*", "attr", "c1"),), complete=False)),
    Settled(7),
    Refused(7, "s1", "no"),
]


@given(FRAMES)
def test_a_frame_comes_back_as_it_was(frame: Frame[bytes]) -> None:
    assert decode_frame(encode_frame(frame)) == frame
    assert encode_frames(frame) == [encode_frame(frame)]


@pytest.mark.parametrize("payload", PAYLOADS, ids=lambda payload: type(payload).__name__)
def test_a_payload_comes_back_as_it_was(payload: Payload) -> None:
    codec = WireCodec()
    assert codec.decode(codec.encode(payload)) == payload


@given(st.binary(max_size=200))
@example(b"\x91\xa1\x80")
def test_whatever_bytes_come_only_a_peer_is_to_blame(data: bytes) -> None:
    codec = WireCodec(COMMON_BODIES)
    for decode, given_data in ((decode_frame, data), (decode_frame, bytes([VERSION]) + data), (codec.decode, data)):
        with contextlib.suppress(PeerError):
            decode(given_data)  # type: ignore[operator]


@given(FRAMES, st.data())
def test_a_frame_with_a_byte_changed_is_refused_or_another_frame(frame: Frame[bytes], data: st.DataObject) -> None:
    encoded = bytearray(encode_frame(frame))
    encoded[data.draw(st.integers(0, len(encoded) - 1))] ^= data.draw(st.integers(1, 255))
    try:
        assert isinstance(decode_frame(bytes(encoded)), Frame)
    except PeerError:
        return


@given(st.lists(st.integers(0, 900_000), min_size=1, max_size=8), st.integers(1, 1_000))
def test_pieces_of_a_large_frame_say_the_same(sizes: list[int], seq: int) -> None:
    payloads = [bytes([index]) * size for index, size in enumerate(sizes)]
    frame = Frame(3, 4, 5, 6, 7, seq, payloads, [b"loose"])
    pieces = [decode_frame(data) for data in encode_frames(frame)]
    numbered = [(piece.seq + i, payload) for piece in pieces for i, payload in enumerate(piece.payloads)]
    assert numbered == list(enumerate(payloads, seq))
    assert [loose for piece in pieces for loose in piece.loose] == [b"loose"]
    assert all((p.inc, p.peer_inc, p.ack, p.credit, p.early) == (3, 4, 5, 6, 7) for p in pieces)
    assert all(len(p.payloads) == 1 or sum(map(len, p.payloads)) <= 1024 * 1024 for p in pieces)


def test_another_version_and_too_many_bytes_are_told_apart() -> None:
    with pytest.raises(PeerError, match=f"version 9, this node speaks {VERSION}"):
        decode_frame(b"\x09rest")
    with pytest.raises(PeerError, match="version none"):
        decode_frame(b"")
    with pytest.raises(PeerError, match="more than the"):
        decode_frame(bytes([VERSION]) + bytes(FRAME_BYTES_MAX))


@pytest.mark.parametrize(
    "changed", [{"inc": 0}, {"seq": 0}, {"ack": -1}, {"credit": -1}, {"peer_inc": -1}, {"early": -1}]
)
def test_numbers_that_no_session_sends_are_refused(changed: dict[str, int]) -> None:
    frame = msgspec.structs.replace(Frame(1, 0, 0, 0, 0, 1, [], []), **changed)
    with pytest.raises(PeerError, match="out of range"):
        decode_frame(encode_frame(frame))


def test_a_body_of_another_scheme_is_refused() -> None:
    with pytest.raises(PeerError, match="not decodable"):
        WireCodec((Subscribe, Unsubscribe)).decode(WireCodec().encode(Control(1, Snapshot())))


def test_client_ids() -> None:
    assert decode_client_id("zoë".encode()) == "zoë"
    for wrong in ("", "a:b", "a\nb", "x" * 201):
        with pytest.raises(PeerError):
            check_client_id(wrong)
    for wrong_bytes in (b"\xff", b"x" * 10_000):
        with pytest.raises(PeerError):
            decode_client_id(wrong_bytes)
