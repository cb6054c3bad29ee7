"""The contract read naively, in plain Python: a quick judge for thousands of small runs, and the audit's dumb twin.

It loops where Spark joins, holds everything in memory, and trusts that logs are whole, as the simulator's are: what a
damaged log leaves untold, only the audit knows. Like the audit it uses nothing of the brokers' own matching.
"""

from __future__ import annotations

from controller.judge.judging import Judgement, judge
from controller.judge.twin import Found

__all__ = ["Found", "Judgement", "judge"]
