"""A few mutants in CI, and that a wrong part is gone when its trial is over; `make mutants` tries them all."""

from __future__ import annotations

import pytest

from node.core import filters
from tests.mutants.catalogue import MUTANTS
from tests.mutants.trial import try_mutant


@pytest.mark.parametrize("name", ["DeliversTwice", "ForgetsTheCovered", "SwapsNeighbours", "HastyMover", "below_only"])
def test_it_is_convicted_and_leaves_nothing_wrong_behind(name: str) -> None:
    trial = try_mutant(name, ("smoke",), 5)
    assert any(trial.found.values()), MUTANTS[name].story
    assert try_mutant(MUTANTS[name].scheme, ("smoke",), 0).found["smoke"] == "" or ":" in MUTANTS[name].scheme
    assert filters.parse("x <= 3").matches({"x": 3})


def test_there_are_more_than_twenty_each_with_its_story() -> None:
    assert len(MUTANTS) > 20
    assert all(mutant.story for mutant in MUTANTS.values())
