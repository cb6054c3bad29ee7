"""Random fault schedules for every scheme, and nothing breaks; SOAK_SCHEDULES=1000 tries more. A wrong one is found."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from controller.campaigns.soak import blows, hunt
from controller.campaigns.soak.schedules import schedule
from node.core.schemes import registry
from tests.integration.commands import Here

SCHEDULES = int(os.environ.get("SOAK_SCHEDULES", "30"))
WRONG = "tests.mutants.schemes:ForgetsTheCovered"


@pytest.mark.slow
@pytest.mark.parametrize("scheme", registry.names())
def test_nothing_breaks(scheme: str) -> None:
    tried = [hunt.try_one(scheme, seed) for seed in range(1, SCHEDULES + 1)]
    broken = [f"seed {one.seed}: {one.told}" for one in tried if one.outcome == "broken"]
    assert not broken, (
        f"`brokerlab campaign soak --scheme {scheme} --schedules {SCHEDULES}` keeps the runs: {broken[:5]}"
    )
    assert sum(one.outcome == "pass" for one in tried) > 0.8 * SCHEDULES, "nearly all of them put something to the test"


def test_every_kind_of_fault_comes_up_and_they_overlap() -> None:
    schedules = [schedule("simple", seed) for seed in range(1, 201)]
    drawn = {fault.kind for one in schedules for fault in one.faults}
    assert drawn == set(blows.kinds())
    both_ends = [
        one
        for one in schedules
        for link in one.topology.links
        if {f"broker:{link.a}", f"broker:{link.b}"} <= {f.target for f in one.faults if f.kind == "restart"}
    ]
    assert both_ends
    assert any(len({fault.at_s for fault in one.faults}) < len(one.faults) for one in schedules)


def test_a_schedule_depends_on_its_seed_alone() -> None:
    one, other = schedule("simple", 7), schedule("xroute", 7)
    assert one.given == other.given and one.faults == other.faults and one.topology == other.topology
    assert schedule("simple", 8).given != one.given


def test_a_wrong_scheme_is_found_out_and_kept_as_a_run(tmp_path: Path) -> None:
    here = Here(tmp_path)
    done = here.run(
        "campaign", "soak", "--scheme", WRONG, "--schedules", "8", "--jobs", "1", "--format", "json", expect=1
    )
    (row,) = json.loads(done.stdout)
    assert row["broken"] > 0 and row["pass"] > 0 and row["broken"] + row["pass"] + row["idle"] == 8
    kept = here.runs()
    assert len(kept) == min(row["broken"], 5)
    assert f"brokerlab campaign replay {kept[0]}" in done.stderr
    again = here.run("campaign", "replay", str(kept[0]))
    assert "the same to the byte" in again.stdout


def test_wrong_use_is_answered_with_what_is_right(tmp_path: Path) -> None:
    here = Here(tmp_path)
    assert "no scheme" in here.complaint("campaign", "soak", "--scheme", "simpel")
    assert "at least 1" in here.complaint("campaign", "soak", "--schedules", "0")
    assert "without --fresh" in here.complaint("campaign", "soak", "--from", "3", "--fresh")
