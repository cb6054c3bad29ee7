"""What survives a simulated crash: log files, and what schemes persist."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from controller.errors import EnvironmentProblem
from node.core.schemes.base import Persist

BUFFER_BYTES = 1 << 16


class LazyLog:
    """A log file that is open only while it is written: a thousand brokers are more than a process may hold open."""

    def __init__(self, logs: Path, node: str, inc: int) -> None:
        self._path = logs / f"{node}.{inc}.jsonl"
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
