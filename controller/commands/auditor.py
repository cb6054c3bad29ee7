"""Judges runs as they finish, beside whatever goes on: one Spark session, in a thread of its own."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from controller.progress import Progress

if TYPE_CHECKING:
    from controller.audit.verdict import Verdict

Judged = Callable[[Path, "Verdict"], None]


class Auditor:
    """Spark starts with the first run that is handed in."""

    def __init__(self, spark_master: str | None, judged: Judged) -> None:
        self._spark_master = spark_master
        self._judged = judged
        self._runs: queue.Queue[tuple[Path, Progress] | None] = queue.Queue()
        self._thread: threading.Thread | None = None
        self._error: BaseException | None = None
        self._is_closing = False

    def submit(self, run: Path, progress: Progress) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="auditor", daemon=True)
            self._thread.start()
        self._runs.put((run, progress))

    def wait(self) -> None:
        """Until everything handed in is judged; raises what the audit could not do."""
        while self._runs.unfinished_tasks and self._error is None:
            # Waiting in pieces lets Ctrl-C through.
            threading.Event().wait(0.05)
        self.check()

    def check(self) -> None:
        if self._error is not None:
            raise self._error

    def close(self) -> None:
        """The run in hand is judged to its end, those that wait are left."""
        self._is_closing = True
        self._runs.put(None)
        while self._thread is not None and self._thread.is_alive():
            self._thread.join(0.05)

    def _work(self) -> None:
        from controller.audit import audit, session
        from controller.audit.report import write_report

        try:
            with session(self._spark_master):
                while (asked := self._runs.get()) is not None and not self._is_closing:
                    run, progress = asked
                    with progress.bar("audit") as bar:
                        verdict = audit(run, spark_master=self._spark_master, progress=bar.advance)
                    write_report(run)
                    self._judged(run, verdict)
                    self._runs.task_done()
        except Exception as error:  # noqa: BLE001 - whoever waits for the verdict raises it
            self._error = error
