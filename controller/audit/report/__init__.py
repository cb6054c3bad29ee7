"""`report.html`: what the audit found, on one page that needs no network."""

from __future__ import annotations

from pathlib import Path

from controller.audit.report.page import render
from controller.audit.report.reading import read_run

__all__ = ["write_report"]

PAGE_BYTES_MAX = 5_000_000
VIOLATIONS_SHOWN = (200, 60, 15, 0)


def write_report(run: Path) -> Path:
    """Writes RUN/report.html from what the audit left in RUN/audit, and returns its path."""
    page = b""
    # Only paths can make the page too big: with fewer of them it always fits.
    for violations_max in VIOLATIONS_SHOWN:
        page = render(read_run(run, violations_max)).encode("utf-8", errors="replace")
        if len(page) < PAGE_BYTES_MAX:
            break
    path = run / "report.html"
    unfinished = path.with_suffix(".html.part")
    unfinished.write_bytes(page)
    unfinished.replace(path)
    return path
