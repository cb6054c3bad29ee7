"""What a run must know of its surroundings to be repeated elsewhere."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import controller
from node.version import VERSION

ROOT = Path(controller.__file__).resolve().parent.parent
_DISTRIBUTIONS = ("pyzmq", "msgspec", "docker", "pyspark")


def commit() -> str | None:
    """Of this checkout, marked if files differ from it; None where there is no repository."""
    head = _git("rev-parse", "HEAD")
    if head is None:
        return None
    return f"{head}-modified" if _git("status", "--porcelain", "--untracked-files=no") else head


def host() -> dict[str, Any]:
    return {
        "cpus": os.cpu_count(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "kernel": platform.release(),
        "machine": platform.machine(),
        "load_1min": os.getloadavg()[0],
    }


def versions() -> dict[str, str | None]:
    return {"brokerlab": VERSION, "python": platform.python_version(), **{one: _version(one) for one in _DISTRIBUTIONS}}


def _version(distribution: str) -> str | None:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None


def _git(*arguments: str) -> str | None:
    try:
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
