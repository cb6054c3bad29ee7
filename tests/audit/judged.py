"""Runs an audit and looks at what it wrote, so that many literal cases can share one run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pyarrow.parquet as pq

from controller.audit import Verdict, audit
from controller.judge import judge
from tests.audit.logs import Log, RunLog


class Judged:
    def __init__(self, run: Path) -> None:
        self.run = run
        self.verdict: Verdict = audit(run)
        self.rows: list[dict[str, Any]] = pq.read_table(run / "audit" / "violations.parquet").to_pylist()
        self.json: dict[str, Any] = msgspec.json.decode((run / "audit" / "verdict.json").read_bytes())

    def check(self, name: str) -> str:
        return next(check.verdict for check in self.verdict.checks if check.name == name)

    def of(self, case: str) -> set[tuple[str, str, bool]]:
        """(check, verdict, excused) of all violations that name a client, message or subscription of the case."""
        return {
            (row["check"], row["verdict"], row["excused"])
            for row in self.rows
            if any((row[key] or "").startswith(f"{case}.") for key in ("client", "msg", "sub"))
        }


CHECKS_OF_PAIRS = ("missing", "spurious", "unsubscribed", "subs", "duplicate", "order")


def both_say(judged: Judged) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """What the audit found about messages, and what the quick judge did."""
    told = msgspec.json.decode((judged.run / "run.json").read_bytes())
    logs = {path.name: path.read_bytes() for path in (judged.run / "logs").iterdir()}
    drivers = [data for name, data in logs.items() if name.split(".")[0] in told["drivers"]]
    quick = judge(drivers, logs["controller.1.jsonl"], told["promise"])
    audited = [row for row in judged.rows if row["check"] in CHECKS_OF_PAIRS]
    return (
        sorted((row["check"], row["client"], row["msg"], row["t"], row["excused"]) for row in audited),
        sorted((one.check, one.client, one.msg, one.t, one.excused) for one in quick.found),
    )


class Cases:
    """Cases in one run: each has drivers and clients of its own, named after it."""

    def __init__(self, folder: Path, promise: str = "perfect") -> None:
        self.run = RunLog(folder, promise)

    def driver(self, case: str, which: str = "d", inc: int = 1) -> Log:
        return self.run.driver(f"{case}-{which}", inc)

    def judged(self) -> Judged:
        return Judged(self.run.write())


def fails(*checks: str) -> set[tuple[str, str, bool]]:
    return {(check, "fail", False) for check in checks}
