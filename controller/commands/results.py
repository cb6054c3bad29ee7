"""What came of a series: each run with its verdict, how many of which sort, and the exit status."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import click
import msgspec

from controller import output
from controller.campaigns.series import Entry, Series
from controller.commands import verdicts

VERDICTS = ("pass", "fail", "unknown")
UNKNOWN = 2


def show(series: Series, format_: str) -> int:
    """Returns the exit status."""
    directories = {entry.number: series.run_directory(entry) for entry in series.runs}
    if not series.record.is_audited:
        for directory in directories.values():
            click.echo(directory)
        return UNKNOWN if any(one.outcome != "complete" for one in series.runs) else 0
    judged = {path: verdict for path in directories.values() if (verdict := _verdict(path)) is not None}
    if format_ == "json":
        output.show_json([_told(one, directories[one.number], judged) for one in series.runs])
    elif len(series.runs) == 1:
        verdicts.show(judged, format_)
    else:
        _show_many(series, judged, directories)
    if len(judged) > 1:
        from controller.commands import compare

        _, page = compare.write(list(judged), series.directory / "compare.html")
        output.say(f"compared: {page}")
    counted = Counter(one.verdict for one in series.runs)
    return 1 if counted["fail"] else UNKNOWN if counted["pass"] < len(series.runs) else 0


def _verdict(run: Path) -> Any:
    from controller.audit.verdict import Verdict

    try:
        return msgspec.json.decode((run / "audit" / "verdict.json").read_bytes(), type=Verdict)
    except OSError:
        return None


def _told(entry: Entry, run: Path, judged: dict[Path, Any]) -> dict[str, Any]:
    found = judged.get(run)
    own = {"run": str(run), "choices": entry.choices, "outcome": entry.outcome, "outcome_why": entry.outcome_why}
    return {**own, **(msgspec.to_builtins(found) if found else {}), "verdict": entry.verdict}


def _show_many(series: Series, judged: dict[Path, Any], directories: dict[int, Path]) -> None:
    rows = [
        {
            "run": directories[one.number].name,
            "choices": one.label,
            "verdict": one.verdict,
            "violations": one.violations,
            "report": str(directories[one.number] / "report.html"),
        }
        for one in series.runs
    ]
    output.show(rows, "table")
    for one in series.runs:
        found = judged.get(directories[one.number])
        reasons = ([one.outcome_why] if one.outcome_why else []) + (found.reasons if found else [])
        for reason in reasons if one.verdict != "pass" else []:
            click.echo(f"because: {directories[one.number].name}: {reason}")
    click.echo()
    output.show(summary(series), "table")


def summary(series: Series) -> list[dict[str, Any]]:
    """How many runs of which verdict, by everything that was varied but the seed."""
    groups: dict[str, Counter[str | None]] = {}
    for one in series.runs:
        varied = " ".join(f"{key}={value}" for key, value in one.labels.items() if key != "seed")
        groups.setdefault(varied or "all seeds", Counter())[one.verdict] += 1
    if len(groups) > 1:
        groups["together"] = sum(groups.values(), Counter())
    return [
        {"runs": sum(found.values()), "": name, **{verdict: found[verdict] for verdict in VERDICTS}}
        for name, found in groups.items()
    ]
