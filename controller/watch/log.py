"""A node's log over all its incarnations: its last records, and whatever is added."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from controller.files import Growing, backwards, unfinished_bytes
from node.journal import log_files


class Log:
    def __init__(self, logs: Path, node: str) -> None:
        self._logs = logs
        self._node = node
        self._growing: dict[int, Growing] = {}
        """The newest incarnation that was read, and how far."""

    @property
    def exists(self) -> bool:
        return bool(log_files(str(self._logs), self._node))

    def last(self, count: int, since_t: int | None = None, wanted: Callable[[bytes], bool] = bool) -> list[bytes]:
        """Lines, oldest first; so many wanted ones at most, from `since_t` on."""
        found = log_files(str(self._logs), self._node)
        sizes = {inc: path.stat().st_size for inc, path in found.items()}
        if found:
            newest = max(found)
            place = sizes[newest] - unfinished_bytes(found[newest], sizes[newest])
            self._growing = {newest: Growing(found[newest], place)}
        lines = (line for inc in reversed(found) for line in backwards(found[inc], sizes[inc]))
        return list(islice(filter(wanted, _from(lines, since_t)), count))[::-1]

    def read_on(self) -> list[bytes]:
        """What was added since; a next incarnation begins when nothing more comes from the one before."""
        found = log_files(str(self._logs), self._node)
        if not self._growing:
            if not found:
                return []
            self._growing = {min(found): Growing(found[min(found)])}
        ((inc, growing),) = self._growing.items()
        lines = growing.read_on()
        later = min((other for other in found if other > inc), default=None)
        if not lines and later is not None:
            self._growing = {later: Growing(found[later])}
            return self.read_on()
        return lines


def _from(newest_first: Iterator[bytes], since_t: int | None) -> Iterator[bytes]:
    """Times do not decrease in a log, so the first one that is too old ends it."""
    for line in newest_first:
        if since_t is not None and (record := decoded(line)) is not None and record["t"] < since_t:
            return
        yield line


def decoded(line: bytes) -> dict[str, Any] | None:
    """None for a line that is no record: the audit judges it, a person is shown it as it is."""
    try:
        record = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return record if isinstance(record, dict) and isinstance(record.get("t"), int) else None


def first_t(path: Path) -> int | None:
    """When a log begins."""
    with path.open("rb") as file:
        record = decoded(file.readline())
    return None if record is None else record["t"]


def last_t(path: Path) -> int | None:
    """When a log ends, or how far it has come."""
    for line in islice(backwards(path), 3):
        if (record := decoded(line)) is not None:
            return int(record["t"])
    return None


def origin_t(logs: Path) -> int | None:
    """When the run began: the first thing that any node told."""
    return min((t for path in logs.glob("*.1.jsonl") if (t := first_t(path)) is not None), default=None)
