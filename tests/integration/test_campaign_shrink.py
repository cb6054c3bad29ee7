"""`campaign shrink`: from hundreds of operations to a story that fits on a screen, and is told again by the tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.campaigns import transcript
from controller.campaigns.shrink.deltas import fewest
from tests.integration.commands import Here
from tests.scenario.transcript import play


def failing(here: Here, scheme: str, expect: int = 0) -> Path:
    """A run of hundreds of operations, with faults that have nothing to do with it."""
    changes = (
        "workload.subscriptions=150",
        "workload.rate_hz=60",
        "workload.clients=12",
        "workload.churn=[{kind: poisson, hz: 60}]",
    )
    settings = [word for change in changes for word in ("--set", change)]
    arguments = ("campaign", "run", "smoke", "--runtime", "sim", "--no-audit", "--scheme", scheme, *settings)
    here.run(*arguments, expect=expect)
    (run,) = here.runs()
    return run


@pytest.mark.slow
def test_a_wrong_scheme_is_shrunk_to_a_handful_and_its_transcript_is_told_again(tmp_path: Path) -> None:
    here = Here(tmp_path)
    run = failing(here, "tests.mutants.schemes:ForgetsTheCovered")
    done = here.run("campaign", "shrink", str(run), "--no-audit", expect=1)
    assert "convicted of: missing" in done.stderr
    small = transcript.parse(done.stdout)
    before = sum(len(plan.read_bytes().splitlines()) for plan in (run / "config").glob("*.plan.jsonl"))
    assert before > 300 and len(small.given.operations) <= 9 and len(small.topology.brokers) == 2
    assert small.faults == ()
    assert "fail\nmissing: c" in done.stdout
    assert play(done.stdout) == done.stdout
    (kept,) = set(here.runs()) - {run}
    assert (kept / "transcript.txt").read_text() == done.stdout
    assert "the same to the byte" in here.run("campaign", "replay", str(kept)).stdout


def test_what_ends_a_broker_is_shrunk_too(tmp_path: Path) -> None:
    here = Here(tmp_path)
    run = failing(here, "tests.integration.odd_schemes:ToNobody", expect=2)
    done = here.run("campaign", "shrink", str(run), "--no-audit", expect=2)
    small = transcript.parse(done.stdout)
    assert len(small.given.operations) <= 3 and len(small.topology.brokers) == 1
    assert "ended by itself" in done.stdout.split("verdict")[1]


def test_a_run_that_breaks_nothing_and_one_that_was_not_simulated_are_turned_down(tmp_path: Path) -> None:
    here = Here(tmp_path)
    run = failing(here, "simple")
    assert "breaks nothing" in here.run("campaign", "shrink", str(run), expect=2).stderr
    told = run / "run.json"
    told.write_text(told.read_text().replace('"runtime": "sim"', '"runtime": "process"'))
    assert "only simulated runs" in here.complaint("campaign", "shrink", str(run))


@given(st.sets(st.integers(0, 60), max_size=4), st.integers(0, 61))
def test_the_fewest_are_exactly_those_that_do_it(needed: set[int], count: int) -> None:
    needed = {one for one in needed if one < count}
    asked: list[int] = []

    def does_it(some: list[int]) -> bool:
        asked.append(len(some))
        return needed <= set(some)

    assert fewest(range(count), does_it) == sorted(needed)
    assert len(asked) < 500
