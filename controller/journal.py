"""The controller's own log: phases and faults, in the same form as every node's."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from controller.errors import EnvironmentProblem
from node.core import records
from node.journal import Journal, next_incarnation, open_journal
from node.version import VERSION

NAME = "controller"


class ControllerJournal:
    """Each record is in the file when the call returns, so what follows it in the world follows it in the log."""

    def __init__(self, journal: Journal, scheme: str) -> None:
        self._journal = journal
        self._write(records.Open, role="controller", version=VERSION, scheme=scheme)

    @classmethod
    def in_files(cls, logs: Path, scheme: str, wall_ns: Callable[[], int] = time.time_ns) -> Self:
        """A log beside those of the nodes, as the next incarnation."""
        return cls(open_journal(str(logs), NAME, next_incarnation(str(logs), NAME), wall_ns), scheme)

    def phase(self, name: str, state: Literal["start", "end"]) -> None:
        self._write(records.Phase, name=name, state=state)

    def fault(self, id_: str, kind: str, target: str, phase: Literal["apply", "heal"], args: dict[str, Any]) -> None:
        self._write(records.Fault, id=id_, kind=kind, target=target, phase=phase, args=args)

    def close(self) -> None:
        self._write(records.Close)
        self._journal.close()

    def _write(self, record: type[records.Record], /, **fields: Any) -> None:
        self._journal.add(record, **fields)
        if not self._journal.flush():
            raise EnvironmentProblem("the controller's log cannot be written: no space left on the disk")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
