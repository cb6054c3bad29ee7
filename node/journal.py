"""The log writer: typed records, numbered without gaps, one write per batch.

What has been written survives SIGKILL, so nothing is synchronised to the disk; a batch is written before what it tells
of is sent.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, Protocol

import msgspec

from node.core.records import Record
from node.errors import HostError

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

Level = Literal["all", "publications", "deliveries"]
"""How much brokers tell: everything, nothing about control messages, or nothing about messages at all."""


def log_files(logs: str, node: str) -> dict[int, Path]:
    """The log files of a node, by incarnation, oldest first."""
    pattern = re.compile(rf"{re.escape(node)}\.([0-9]+)\.jsonl")
    found = {int(match[1]): path for path in Path(logs).iterdir() if (match := pattern.fullmatch(path.name))}
    return dict(sorted(found.items()))


def next_incarnation(logs: str, node: str) -> int:
    return max(log_files(logs, node), default=0) + 1


def open_journal(logs: str, node: str, inc: int, wall_ns: Callable[[], int]) -> Journal:
    """The journal of a real node."""
    return Journal(node, inc, wall_ns, LogFile(logs, node, inc))


class LogFile:
    """Takes whole batches of lines, as long as there is room on the disk."""

    def __init__(self, logs: str, node: str, inc: int) -> None:
        self._node = node
        self._full: int | None = None
        path = Path(logs) / f"{node}.{inc}.jsonl"
        try:
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise HostError(f"the log {path} cannot be made: {error.strerror}") from None

    def write(self, lines: bytes) -> int:
        rest = memoryview(lines)
        while rest:
            try:
                rest = rest[os.write(self._file if self._full is None else self._full, rest) :]
            except OSError as error:
                if error.errno in _NO_ROOM:
                    break
                raise HostError(f"the log of {self._node} cannot be written: {error.strerror}") from None
        return len(lines) - len(rest)

    def fill_disk(self, is_full: bool) -> None:
        """While it is full the kernel's own full device stands in for the disk, and answers as one."""
        if is_full and self._full is None:
            self._full = os.open("/dev/full", os.O_WRONLY | os.O_CLOEXEC)
        elif not is_full and self._full is not None:
            os.close(self._full)
            self._full = None

    def close(self) -> None:
        os.close(self._file)


class Sink(Protocol):
    """Where a journal's lines go; what was written is there for good."""

    def write(self, lines: bytes) -> int:
        """How many of these bytes found room: fewer than all if the disk is full."""

    def close(self) -> None: ...


class Journal:
    def __init__(self, node: str, inc: int, wall_ns: Callable[[], int], sink: Sink) -> None:
        self.node = node
        self.inc = inc
        self._wall_ns = wall_ns
        self._sink = sink
        self._encoder = msgspec.json.Encoder()
        self._batch: list[Record] = []
        self._unwritten = b""
        self._n = 0
        self._t = 0

    def add(self, record: type[Record], /, **fields: Any) -> int:
        """Put a record into the batch; returns its number."""
        self._n += 1
        # The wall clock may be set back; a log's time never goes back.
        self._t = max(self._t, self._wall_ns())
        self._batch.append(record(t=self._t, node=self.node, inc=self.inc, n=self._n, **fields))
        return self._n

    def flush(self) -> bool:
        """False if the disk has no room: then nothing of what was added may be acted on until it has."""
        if not self._batch and not self._unwritten:
            return True
        lines = self._unwritten + self._encoder.encode_lines(self._batch)
        self._batch.clear()
        self._unwritten = lines[self._sink.write(lines) :]
        return not self._unwritten

    def close(self) -> None:
        is_written = self.flush()
        self._sink.close()
        if not is_written:
            raise HostError(f"the log of {self.node} is cut short: no space left on the disk")
