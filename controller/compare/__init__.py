"""Runs side by side: what the audit found out about each, and whether they may be compared at all."""

from __future__ import annotations

from controller.compare.model import Compared, Summary, compare
from controller.compare.page import write_page
from controller.compare.rows import MEASURES, Measure

__all__ = ["MEASURES", "Compared", "Measure", "Summary", "compare", "write_page"]
