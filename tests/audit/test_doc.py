"""docs/audit.md names every check and every table, and no other."""

from __future__ import annotations

import re
from pathlib import Path

from controller.audit.checks import CHECKS
from controller.audit.report.words import CHECKS as WORDS

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "audit.md").read_text()


def section(title: str) -> str:
    return TEXT.split(f"\n## {title}\n")[1].split("\n## ")[0]


def rows(title: str) -> dict[str, str]:
    return dict(re.findall(r"^\| `([^`]+)` \|(.*)\|$", section(title), re.MULTILINE))


def documented(table: str) -> set[str]:
    """The columns; a remark in parentheses may name other things."""
    cell = rows("Files in RUN/audit")[table].split("|")[-1]
    return set(re.findall(r"`([^`]+)`", re.sub(r"\([^)]*\)", "", cell)))


def test_every_check_is_explained() -> None:
    assert list(rows("Checks")) == [check.name for check in CHECKS]


def test_the_report_has_words_for_every_check() -> None:
    assert {check.name for check in CHECKS} == set(WORDS)
