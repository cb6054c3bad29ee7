from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from zmq.utils import z85

from node.errors import ConfigError
from node.security import (
    BrokerKeys,
    ClientKeys,
    DriverKeys,
    GatewayKeys,
    decide,
    key_files,
    make_keys,
    read_client_keys,
    read_keys,
)

KEYS = make_keys()
ADMITTED = {"peers": {KEYS["broker"]["public"]: "broker"}, "clients": {KEYS["client"]["public"]: "client"}}


def request(door: bytes, role: str) -> list[bytes]:
    return [b"1.0", b"id7", door, b"1.2.3.4", b"", b"CURVE", z85.decode(KEYS[role]["public"])]


def test_a_key_opens_its_door_and_carries_its_role() -> None:
    verdict = decide(request(b"clients", "client"), ADMITTED)
    assert verdict.reply == [b"1.0", b"id7", b"200", b"", b"client", b""]
    assert verdict.refused is None


@pytest.mark.parametrize(("door", "role"), [(b"peers", "client"), (b"clients", "broker"), (b"other", "broker")])
def test_any_other_door_stays_shut(door: bytes, role: str) -> None:
    verdict = decide(request(door, role), ADMITTED)
    assert verdict.reply[:3] == [b"1.0", b"id7", b"400"]
    assert verdict.refused is not None and "1.2.3.4" in verdict.refused


@given(st.lists(st.binary(max_size=33), max_size=9))
def test_nothing_else_is_ever_let_in(parts: list[bytes]) -> None:
    for asked in (
        parts,
        [b"1.0", b"id", b"peers", b"", b"", *parts],
        [b"1.0", b"id", b"peers", b"", b"", b"CURVE", *parts],
    ):
        verdict = decide(asked, ADMITTED)
        assert verdict.reply[2] != b"200" and verdict.refused
        assert len(verdict.reply) == 6


def test_mechanisms_without_a_key_are_refused() -> None:
    for mechanism in (b"NULL", b"PLAIN"):
        verdict = decide([b"1.0", b"id", b"peers", b"", b"", mechanism], ADMITTED)
        assert verdict.refused is not None and "without a key" in verdict.refused


def test_each_role_finds_its_keys_and_no_secret_that_is_not_its_own(tmp_path: Path) -> None:
    files = key_files(KEYS)
    forms = {
        "broker-keys.json": (BrokerKeys, {"broker"}),
        "driver-keys.json": (DriverKeys, {"driver", "client"}),
        "gateway-keys.json": (GatewayKeys, {"broker", "client", "admin"}),
        "client-keys.json": (ClientKeys, {"client", "admin"}),
    }
    assert set(files) == set(forms)
    for name, (form, secrets) in forms.items():
        path = tmp_path / name
        path.write_text(json.dumps(files[name]))
        read_keys(str(path), form)  # type: ignore[type-var]
        text = path.read_text()
        held = {role for role in KEYS if json.dumps(KEYS[role]["secret"]) in text}
        assert held == secrets, name


def test_wrong_key_files_are_told_in_one_line_without_a_secret(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    wrong = [b"{", json.dumps(key_files(KEYS)["driver-keys.json"]).encode()]
    broken = key_files(KEYS)["broker-keys.json"]
    wrong.append(json.dumps({**broken, "client": "short"}).encode())
    wrong.append(json.dumps({**broken, "admin": "é" * 40}).encode())
    for content in wrong:
        path.write_bytes(content)
        with pytest.raises(ConfigError) as caught:
            read_keys(str(path), BrokerKeys)
        assert "\n" not in str(caught.value)
        assert not any(KEYS[role]["secret"] in str(caught.value) for role in KEYS)
    with pytest.raises(ConfigError, match="cannot be read"):
        read_keys(str(tmp_path / "none"), BrokerKeys)
    with pytest.raises(ConfigError, match="no keys of a cluster"):
        read_client_keys({"server": 1})


def test_a_key_pair_does_not_print_its_secret() -> None:
    keys = read_client_keys(key_files(KEYS)["client-keys.json"])
    assert KEYS["client"]["secret"] not in repr(keys)
