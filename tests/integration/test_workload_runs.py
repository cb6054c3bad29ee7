"""A workload with everyone who comes, goes and moves, on real processes, judged by the audit's quick twin."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from controller.judge import judge
from tests.integration.commands import Here, traces

CAMPAIGN = """\
name: coming-and-going
topology: star-5
scheme: simple
workload:
  kind: stocks
  subscriptions: 40
  clients: 16
  rate_hz: 20
  arrivals: poisson
  churn:
    - {kind: poisson, hz: 3}
    - {kind: storms, at_s: 1, every_s: 9, subscriptions: 10}
    - {kind: flash-crowd, at_s: 1, clients: 10, within_s: 0.5, for_s: 2}
  moves: {kind: random-walk, share: 0.5, stays_s: 1, linger_ms: 2000}
phases: {warm_s: 1, load_s: 5, heal_s: 5}
"""


@pytest.mark.slow
def test_who_comes_goes_and_moves_misses_nothing_on_real_processes(tmp_path: Path) -> None:
    here = Here(tmp_path)
    (tmp_path / "c.yaml").write_text(CAMPAIGN)
    here.run("campaign", "run", "c.yaml", "--runtime", "process", "--no-audit")
    (run,) = here.runs()
    told = json.loads((run / "run.json").read_text())
    logs = run / "logs"
    drivers = [(logs / f"{name}.1.jsonl").read_bytes() for name in told["drivers"]]
    judged = judge(drivers, (logs / "controller.1.jsonl").read_bytes(), told["promise"])
    assert judged.verdict == "pass" and judged.excused == 0 and judged.pairs_required > 50, judged.told()
    attached = [line for data in drivers for line in data.splitlines() if b'"event":"attach"' in line]
    assert len(attached) > 16 + 10 + 3, "residents, the crowd, and those who moved"
    assert [one for one in traces("coming-and-going-") if one.directory == run] == []
