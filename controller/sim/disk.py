"""What survives a simulated crash: log files, and what schemes persist."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from controller.errors import EnvironmentProblem
from node.core.schemes.base import Persist

BUFFER_BYTES = 1 << 16


class Log(Protocol):
    """Where a simulated node's log goes."""

    is_full: bool

    def write(self, lines: bytes) -> int: ...
    def close(self) -> None: ...


class Shelf(Protocol):
    """Where the logs of a run are kept."""

    def log(self, node: str, inc: int) -> Log: ...


class LogFiles:
    def __init__(self, logs: Path) -> None:
        self._logs = logs

    def log(self, node: str, inc: int) -> Log:
        return LazyLog(self._logs / f"{node}.{inc}.jsonl")


class LogsInMemory:
    """For runs of which nothing is to be left."""

    def __init__(self) -> None:
        self._logs: dict[str, MemoryLog] = {}

    def log(self, node: str, inc: int) -> Log:
        made = self._logs[f"{node}.{inc}.jsonl"] = MemoryLog()
        return made

    @property
    def files(self) -> dict[str, bytes]:
        """By the name that each would have as a file."""
        return {name: b"".join(log.lines) for name, log in self._logs.items()}


class MemoryLog:
    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self.is_full = False

    def write(self, lines: bytes) -> int:
        if self.is_full:
            return 0
        self.lines.append(lines)
        return len(lines)

    def close(self) -> None:
        pass


class LazyLog:
    """A log file that is open only while it is written: a thousand brokers are more than a process may hold open."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lines: list[bytes] = []
        self._size = 0
        self.is_full = False

    def write(self, lines: bytes) -> int:
        if self.is_full:
            return 0
        self._lines.append(lines)
        self._size += len(lines)
        if self._size >= BUFFER_BYTES:
            self.close()
        return len(lines)

    def close(self) -> None:
        """All that was written is in the file."""
        try:
            with self._path.open("ab") as file:
                file.writelines(self._lines)
        except OSError as error:
            raise EnvironmentProblem(f"the log {self._path} cannot be written: {error.strerror}") from None
        self._lines.clear()
        self._size = 0


class MemoryStore:
    def __init__(self) -> None:
        self._items: dict[str, bytes] = {}

    def load(self) -> dict[str, bytes]:
        return dict(self._items)

    def append(self, entries: Iterable[Persist]) -> None:
        for entry in entries:
            self._items[entry.key] = entry.value
