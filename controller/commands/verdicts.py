"""Verdicts of one or several runs: asked for, shown, and turned into an exit status."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from controller import output
from controller.errors import UsageError
from controller.progress import Progress

if TYPE_CHECKING:
    from controller.audit.verdict import Verdict

# A broken property outweighs one that could not be told, and that one outweighs a pass.
_WORST_FIRST = ("fail", "unknown", "pass")
_CONGESTED_SHOWN = 3


def judge(runs: Sequence[Path], spark_master: str | None, progress: Progress) -> dict[Path, Verdict]:
    """Audits and reports each run; Spark is started once for all of them.

    One of several that cannot be judged is told and left out; if none can, that is the user's mistake.
    """
    from controller.audit import audit, session
    from controller.audit.report import write_report

    judged: dict[Path, Verdict] = {}
    with session(spark_master):
        for run in runs:
            try:
                with progress.bar("audit") as bar:
                    judged[run] = audit(run, spark_master=spark_master, progress=bar.advance)
            except UsageError as problem:
                if len(runs) == 1 or (not judged and run == runs[-1]):
                    raise
                output.say(f"not judged: {problem}")
                continue
            write_report(run)
    return judged


def show(judged: dict[Path, Verdict], format_: str) -> None:
    """The last two lines are the verdict and where to read more."""
    if format_ == "json":
        output.show_json([{"run": str(run), **msgspec.to_builtins(verdict)} for run, verdict in judged.items()])
        return
    for run, verdict in judged.items():
        _show_one(run, verdict)
    if len(judged) > 1:
        click.echo()
        output.show([_row(run, verdict) for run, verdict in judged.items()], "table")


def worst_status(judged: Iterable[Verdict], left_out: int = 0) -> int:
    """What could not be judged is as good as an `unknown`."""
    from controller.audit.verdict import EXIT_STATUS

    verdicts = {one.verdict for one in judged} | ({"unknown"} if left_out else set())
    return next((EXIT_STATUS[verdict] for verdict in _WORST_FIRST if verdict in verdicts), 0)


def _show_one(run: Path, verdict: Verdict) -> None:
    rows: list[dict[str, Any]] = [msgspec.to_builtins(check) for check in verdict.checks]
    output.show(rows, "table", ["name", "verdict", "violations", "excused", "summary"], empty="no check could run")
    for check in verdict.not_judged:
        click.echo(f"not judged: {check.name}: {check.why}")
    for sentence in verdict.congested[:_CONGESTED_SHOWN]:
        click.echo(f"congested: {sentence}")
    for reason in verdict.reasons:
        click.echo(f"because: {reason}")
    click.echo(f"verdict: {verdict.verdict}")
    click.echo(f"report: {run / 'report.html'}")


def _row(run: Path, verdict: Verdict) -> dict[str, Any]:
    counts = {"violations": sum(check.violations for check in verdict.checks)}
    return {"run": run.name, "verdict": verdict.verdict, **counts, "report": str(run / "report.html")}
