"""The runs in a directory, as a person looks for them: what was run, when, and what came of it."""

from __future__ import annotations

import contextlib
import os
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

UNAUDITED = "not audited"


class Run(Struct, frozen=True):
    name: str
    campaign: str
    scheme: str
    runtime: str
    topology: str
    seed: int | None
    brokers: int | None
    verdict: str
    """`pass`, `fail`, `unknown`, or that no audit has judged it."""
    outcome: str
    started_t: int | None
    duration_ns: int | None
    """Virtual, in the simulator; None before the audit."""
    size_bytes: int
    has_report: bool


def find(root: Path) -> list[Run]:
    """Newest first; whatever is no run directory is passed over."""
    folders = [path for path in root.iterdir() if not path.is_symlink()] if root.is_dir() else []
    found = [read(path) for path in folders if (path / "run.json").is_file()]
    return sorted(found, key=lambda run: (-(run.started_t or 0), run.name))


def pages(root: Path) -> list[Path]:
    """The comparisons that lie beside the runs, newest first."""
    found = [*root.glob("compare-*.html"), *root.glob("*/compare.html")] if root.is_dir() else []
    return sorted(found, key=lambda path: -path.stat().st_mtime)


def read(folder: Path) -> Run:
    facts, verdict = _object(folder / "run.json"), _object(folder / "audit" / "verdict.json")
    brokers = _object(folder / "topology.json").get("brokers")
    return Run(
        name=folder.name,
        campaign=_word(facts.get("campaign")),
        scheme=_word(facts.get("scheme")),
        runtime=_word(facts.get("runtime")),
        topology=_word(facts.get("topology")),
        seed=facts.get("seed") if isinstance(facts.get("seed"), int) else None,
        brokers=len(brokers) if isinstance(brokers, list) else None,
        verdict=_word(verdict.get("verdict")) or UNAUDITED,
        outcome=_word(facts.get("outcome")),
        started_t=_moment(facts.get("started")),
        duration_ns=_duration_ns(verdict.get("span")),
        size_bytes=_size_bytes(folder),
        has_report=(folder / "report.html").is_file(),
    )


def _duration_ns(span: Any) -> int | None:
    start_t, end_t = (span.get("start_t"), span.get("end_t")) if isinstance(span, dict) else (None, None)
    return end_t - start_t if isinstance(start_t, int) and isinstance(end_t, int) else None


def _size_bytes(folder: Path) -> int:
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            # A run that goes on replaces its files.
            with contextlib.suppress(FileNotFoundError):
                total += (Path(place) / name).lstat().st_size
    return total


def _object(path: Path) -> dict[str, Any]:
    """A file that is missing or damaged tells nothing; the audit is there to complain."""
    try:
        value = msgspec.json.decode(path.read_bytes())
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _word(value: object) -> str:
    return value if isinstance(value, str) else ""


def _moment(text: object) -> int | None:
    try:
        return round(datetime.fromisoformat(str(text)).timestamp() * 1e9)
    except (ValueError, OverflowError):
        return None
