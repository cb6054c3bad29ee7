"""Who may speak to whom: CURVE keys made per cluster, a pair per role, and the decision about a key shown."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec
import zmq
from msgspec import Struct
from zmq.utils import z85

from node.errors import ConfigError

ROLES = ("broker", "client", "admin", "driver")


class KeyPair(Struct, frozen=True, forbid_unknown_fields=True):
    public: str
    secret: str

    def __repr__(self) -> str:
        return f"KeyPair({self.public!r}, secret hidden)"


class BrokerKeys(Struct, frozen=True):
    broker: KeyPair
    client: str
    admin: str


class DriverKeys(Struct, frozen=True):
    """A driver is a client of brokers and a server for the controller."""

    driver: KeyPair
    client: KeyPair
    broker: str
    admin: str


class GatewayKeys(Struct, frozen=True):
    """The gateway opens what it relays and sends it on under the key of the role it came from."""

    broker: KeyPair
    client: KeyPair
    admin: KeyPair
    driver: str


class ClientKeys(Struct, frozen=True):
    """What a program outside the cluster needs; `keys` of cluster.json has this form."""

    server: str
    client: KeyPair
    admin: KeyPair | None = None


Keys = TypeVar("Keys", BrokerKeys, DriverKeys, GatewayKeys, ClientKeys)


def make_keys() -> dict[str, dict[str, str]]:
    """A new pair for each role, Z85 text."""
    keys = {}
    for role in ROLES:
        public, secret = zmq.curve_keypair()
        keys[role] = {"public": public.decode("ascii"), "secret": secret.decode("ascii")}
    return keys


def key_files(keys: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, Any]]:
    """File name → content. Each role gets the secrets it needs and no other; write them with mode 0600."""
    pairs = {role: dict(keys[role]) for role in ROLES}
    public = {role: pairs[role]["public"] for role in ROLES}
    return {
        "broker-keys.json": {"broker": pairs["broker"], "client": public["client"], "admin": public["admin"]},
        "driver-keys.json": {
            "driver": pairs["driver"],
            "client": pairs["client"],
            "broker": public["broker"],
            "admin": public["admin"],
        },
        "gateway-keys.json": {
            "broker": pairs["broker"],
            "client": pairs["client"],
            "admin": pairs["admin"],
            "driver": public["driver"],
        },
        "client-keys.json": {"server": public["broker"], "client": pairs["client"], "admin": pairs["admin"]},
    }


def read_keys(path: str, form: type[Keys]) -> Keys:
    try:
        keys = msgspec.json.decode(Path(path).read_bytes(), type=form)
    except OSError as error:
        raise ConfigError(f"the key file {path} cannot be read: {error.strerror}") from None
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ConfigError(f"the key file {path} is not one for this role: {error}") from None
    check_keys(keys, path)
    return keys


def read_client_keys(keys: ClientKeys | Mapping[str, Any]) -> ClientKeys:
    """From `keys` of cluster.json, or from the content of client-keys.json."""
    if isinstance(keys, ClientKeys):
        return keys
    try:
        known = msgspec.convert(keys, ClientKeys)
    except msgspec.ValidationError as error:
        raise ConfigError(f"these are no keys of a cluster: {error}") from None
    check_keys(known, "the keys of the cluster")
    return known


def check_keys(keys: Struct, where: str) -> None:
    for name in keys.__struct_fields__:
        value = getattr(keys, name)
        for text in (value.public, value.secret) if isinstance(value, KeyPair) else (value,):
            if text is not None and not _is_z85_key(text):
                raise ConfigError(f"the key {name!r} in {where} is not a CURVE key (40 characters of Z85)")


def _is_z85_key(text: str) -> bool:
    if len(text) != 40 or not text.isascii():
        return False
    try:
        return len(z85.decode(text)) == 32
    except (KeyError, ValueError):
        return False


class Verdict(NamedTuple):
    """What to answer to libzmq's question about a connection, and why it was refused if it was."""

    reply: list[bytes]
    refused: str | None


Admitted = Mapping[str, Mapping[str, str]]


def decide(request: list[bytes], admitted: Admitted) -> Verdict:
    """Answer a ZAP 1.0 request: `admitted` maps a door to the keys that open it and the role each stands for."""
    if len(request) < 6 or request[0] != b"1.0":
        request_id = request[1] if len(request) > 1 else b""
        return Verdict([b"1.0", request_id, b"500", b"bad request", b"", b""], "bad request")
    request_id, domain, address, mechanism = request[1], request[2], request[3], request[5]
    door = domain.decode("utf-8", "replace")
    where = address.decode("utf-8", "replace") or "a local socket"
    if mechanism != b"CURVE" or len(request) != 7:
        return _refuse(request_id, f"{where} came to {door} without a key")
    key = z85.encode(request[6]).decode("ascii") if len(request[6]) == 32 else ""
    role = admitted.get(door, {}).get(key)
    if role is None:
        return _refuse(request_id, f"{where} came to {door} with a key that does not open it")
    return Verdict([b"1.0", request_id, b"200", b"", role.encode(), b""], None)


def _refuse(request_id: bytes, why: str) -> Verdict:
    return Verdict([b"1.0", request_id, b"400", b"not admitted", b"", b""], why)
