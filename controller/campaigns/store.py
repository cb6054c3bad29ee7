"""Run directories: `runs/<name>-<UTC time>-<seed>`, and `runs/latest`."""

from __future__ import annotations

import os
from collections.abc import Collection
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from controller.cluster import files
from controller.errors import UsageError

ROOT = Path("runs")
LATEST = "latest"


def choose_directory(
    name: str, seed: int | str, root: Path = ROOT, now: datetime | None = None, taken: Collection[str] = ()
) -> Path:
    """A path that does not exist yet; nothing is made, so that a start that fails leaves nothing."""
    stamp = (now or datetime.now(UTC)).strftime("%Y%m%dT%H%M%SZ")
    first = root.absolute() / f"{name}-{stamp}-{seed}"
    path, number = first, 1
    while path.exists() or path.name in taken:
        number += 1
        path = first.with_name(f"{first.name}-{number}")
    return path


def point_latest(directory: Path) -> None:
    """Swapped in one step; it is never missing, and never points at half a name."""
    beside = directory.parent / f".{LATEST}.{os.getpid()}"
    beside.unlink(missing_ok=True)
    beside.symlink_to(directory.name)
    beside.replace(directory.parent / LATEST)


def find_run(text: str) -> Path:
    """A run directory as a person names it: a path, or its name in `runs/`."""
    for path in (Path(text), ROOT / text):
        if path.is_dir():
            return path.resolve()
    raise UsageError(f"no run directory `{text}`; give a path such as {ROOT / LATEST}")


def amend_run(directory: Path, **more: Any) -> None:
    path = directory / "run.json"
    files.write_json(path, {**msgspec.json.decode(path.read_bytes()), **more})
