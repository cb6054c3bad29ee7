"""What a scheme wants kept over a restart: an append-only file of key and value, the last value of a key counts."""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from node.core.schemes.base import Persist
from node.errors import HostError

_HEAD = struct.Struct(">III")


def _packed(key: str, value: bytes) -> bytes:
    name = key.encode()
    return _HEAD.pack(len(name), len(value), zlib.crc32(name + value)) + name + value


def _unpacked(data: bytes) -> dict[str, bytes]:
    """A broker killed while writing leaves half an entry at the end: it was not followed by anything sent."""
    items: dict[str, bytes] = {}
    at = 0
    while at + _HEAD.size <= len(data):
        name_bytes, value_bytes, checksum = _HEAD.unpack_from(data, at)
        start = at + _HEAD.size
        at = start + name_bytes + value_bytes
        if at > len(data) or zlib.crc32(data[start:at]) != checksum:
            break
        items[data[start : start + name_bytes].decode()] = data[start + name_bytes : at]
    return items


class Keeper(Protocol):
    """A disk for what a scheme wants kept."""

    def load(self) -> dict[str, bytes]: ...
    def append(self, entries: Iterable[Persist]) -> None: ...


class Store:
    def __init__(self, logs: str, node: str) -> None:
        self._path = Path(logs) / f"{node}.store"
        self._file: int | None = None

    def load(self) -> dict[str, bytes]:
        """What was kept; the file is rewritten with the last values only."""
        try:
            if not self._path.exists():
                return {}
            items = _unpacked(self._path.read_bytes())
            fresh = self._path.with_suffix(".store-new")
            fresh.write_bytes(b"".join(_packed(key, value) for key, value in items.items()))
            fresh.replace(self._path)
            return items
        except OSError as error:
            raise HostError(f"the store {self._path} cannot be used: {error.strerror}") from None

    def append(self, entries: Iterable[Persist]) -> None:
        rest = memoryview(b"".join(_packed(entry.key, entry.value) for entry in entries))
        try:
            while rest:
                if self._file is None:
                    self._file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
                rest = rest[os.write(self._file, rest) :]
        except OSError as error:
            raise HostError(f"the store {self._path} cannot be written: {error.strerror}") from None
