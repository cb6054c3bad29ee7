"""What comes from outside and is wrong is refused, recorded and survived."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import zmq

from node.core.messages import Advertise, Control, Publication, Publish
from node.core.session import Frame
from node.security import KeyPair, make_keys
from node.wire import FRAME_BYTES_MAX, WireCodec, encode_frame
from tests.integration.lab import Lab, until


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    with Lab(tmp_path) as made:
        made.start("b1")
        until(lambda: made.ask("b1", "status"), "b1 answers")
        yield made


def say(socket: zmq.Socket[bytes], *parts: bytes) -> None:
    assert socket.poll(5_000, zmq.POLLOUT), "the door lets the key in"
    socket.send_multipart(list(parts))


def refusals(lab: Lab, text: str) -> list[dict[str, Any]]:
    return [record for record in lab.log("b1", "refuse") if text in record["why"]]


def is_recorded_and_survived(lab: Lab, text: str) -> None:
    until(lambda: refusals(lab, text), f"a refusal with {text!r} in {lab.log('b1', 'refuse')}")
    assert lab.must("b1", "status")["node"] == "b1"
    assert lab.is_running("b1")


HELLO = encode_frame(Frame(1, 0, 0, 0, 0, 1, [], []))

WRONG_FRAMES: list[tuple[str, str, Callable[[], list[bytes]]]] = [
    ("peers", "version 200", lambda: [b"b2", b"\xc8garbage"]),
    ("peers", "not decodable", lambda: [b"b2", b"\x01\xff\xff\xff"]),
    ("peers", "version none", lambda: [b"b2", b""]),
    ("peers", "no neighbour", lambda: [b"b3", HELLO]),
    ("peers", "no neighbour", lambda: [b"\xff\xfe", HELLO]),
    ("peers", "3 parts instead of 2", lambda: [b"b2", HELLO, b"more"]),
    ("peers", "more than", lambda: [b"b2", b"\x01" + bytes(FRAME_BYTES_MAX)]),
    ("clients", "version 2", lambda: [b"c1", b"\x02" + HELLO[1:]]),
    ("clients", "out of range", lambda: [b"c1", encode_frame(Frame(0, 0, 0, 0, 0, 1, [], []))]),
    ("clients", "not allowed", lambda: [b"c1:x", HELLO]),
    ("clients", "not UTF-8", lambda: [b"\xff\xfe", HELLO]),
    ("clients", "1 parts instead of 2", lambda: [HELLO]),
    ("clients", "more than", lambda: [b"c1", b"\x01" + bytes(FRAME_BYTES_MAX)]),
]


def test_wrong_frames_are_refused_recorded_and_survived(lab: Lab) -> None:
    sockets = {door: lab.dial("b1", door) for door in ("peers", "clients")}
    for door, why, parts in WRONG_FRAMES:
        known = len(refusals(lab, why))
        say(sockets[door], *parts())
        until(lambda why=why, known=known: len(refusals(lab, why)) > known, f"{door}: {why}")  # type: ignore[misc]
    is_recorded_and_survived(lab, "version 200")


def test_payloads_that_lie_are_refused_recorded_and_survived(lab: Lab) -> None:
    codec = WireCodec()
    payloads = [
        b"\xc1",
        codec.encode(Publish(Publication("other:1", "other", 1, "attr", {"x": 1}))),
        codec.encode(Control(1, Advertise("a1", "x >", "attr", "c1"))),
    ]
    client = lab.dial("b1", "clients")
    say(client, b"c1", HELLO)
    say(client, b"c1", encode_frame(Frame(1, 1, 0, 0, 0, 1, payloads, [])))
    for why in ("not decodable", "only under its own name", "of the filter"):
        is_recorded_and_survived(lab, why)


def test_a_stranger_without_a_key_is_not_let_in(lab: Lab) -> None:
    with zmq.Context() as context, context.socket(zmq.DEALER) as stranger:
        stranger.linger = 0
        stranger.connect(lab.endpoints["b1"]["clients"])
        stranger.send_multipart([b"c1", HELLO])
        is_recorded_and_survived(lab, "failed in the handshake")
    assert lab.must("b1", "status")["clients"] == 0


def test_a_stranger_who_does_not_know_the_brokers_key_is_not_let_in(lab: Lab) -> None:
    other = make_keys()
    lab.dial("b1", "peers", KeyPair(**other["broker"]), other["broker"]["public"])
    is_recorded_and_survived(lab, "failed in the handshake")


@pytest.mark.parametrize(
    ("door", "role"), [("peers", "client"), ("clients", "broker"), ("admin", "client"), ("peers", "")]
)
def test_a_key_opens_the_door_of_its_role_only(lab: Lab, door: str, role: str) -> None:
    own = lab.pair(role) if role else KeyPair(**make_keys()["broker"])
    intruder = lab.dial("b1", door, own)
    is_recorded_and_survived(lab, f"{door} with a key that does not open it")
    assert not intruder.poll(100, zmq.POLLOUT)


def test_a_stranger_cannot_fill_the_log(lab: Lab) -> None:
    socket = lab.dial("b1", "peers")
    for _ in range(1_000):
        say(socket, b"b2", b"\xc8garbage")
    say(socket, b"nobody", HELLO)
    lab.must("b1", "status")
    until(lambda: lab.log("b1", "sample")[-1]["n"] > 100, "it goes on")
    assert lab.terminate("b1") == 0
    refused = lab.log("b1", "refuse")
    assert len(refused) == 101
    assert refused[-1]["why"] == "901 more, not recorded one by one"
    assert lab.log("b1")[-1]["event"] == "close"


def test_requests_that_are_none_get_an_answer(lab: Lab) -> None:
    admin = lab.dial("b1", "admin")
    for data in (b"\xff", b"[1]", b'{"id": 7}', b"{"):
        say(admin, b"me", data)
        assert admin.poll(5_000)
        answer = json.loads(admin.recv_multipart()[-1])
        assert answer["ok"] is False and answer["error"]
    assert lab.is_running("b1")
