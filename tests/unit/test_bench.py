"""The benchmarks still run, and tell what they measured. How fast anything is, is not asserted anywhere."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import partial
from pathlib import Path

from tests.bench import table
from tests.bench.measure import QUICK, Figure, Section, percentile, race

ROOT = Path(__file__).resolve().parents[2]
SECTIONS = ("hop", "journal", "matching", "mixed", "equality", "patterns", "covering", "sizes", "filters", "core",
            "split", "sim")  # fmt: skip


def bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.bench", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_a_quick_run_measures_everything_beside_a_baseline() -> None:
    done = bench("--quick")
    assert done.returncode == 0, done.stderr
    assert [line.split()[0] for line in done.stderr.splitlines() if line.endswith("…")] == list(SECTIONS)
    sections = [part.splitlines() for part in done.stdout.strip().split("\n\n")[1:]]
    assert len(sections) == len(SECTIONS)
    row = re.compile(r"  \S.*  +([\d,.]+) \S+ +(baseline|[\d,.]+ ×)")
    for _, *rows in sections:
        found = [row.fullmatch(line) for line in rows]
        assert all(found), rows
        assert found[0] is not None and found[0][2] == "baseline"


def test_a_section_that_is_not_there_is_answered_with_those_that_are() -> None:
    done = bench("hops")
    assert done.returncode == 2
    assert "no section is called hops; there are hop, journal," in done.stderr


def test_contestants_take_turns_and_the_best_run_counts() -> None:
    turns: list[str] = []
    results = {"a": iter([1.0, 5.0, 3.0]), "b": iter([2.0, 1.0, 0.5])}

    def contestant(name: str) -> float:
        turns.append(name)
        return next(results[name])

    best = race({name: partial(contestant, name) for name in results}, QUICK._replace(repetitions=3))
    assert turns == ["a", "b"] * 3
    assert best == {"a": 5.0, "b": 2.0}


def test_the_table_tells_ratios() -> None:
    told = list(table.lines([Section("S", [Figure("bare", 2_000, "x/s"), Figure("ours", 1_500, "x/s", 2_000)])]))
    assert [" ".join(line.split()) for line in told] == ["S", "bare 2,000 x/s baseline", "ours 1,500 x/s 0.75 ×", ""]


def test_percentiles() -> None:
    assert percentile(list(range(100, 0, -1)), 0.5) == 51
    assert percentile([7], 0.99) == 7
