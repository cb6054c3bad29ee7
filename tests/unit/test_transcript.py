from __future__ import annotations

import pytest

from controller.campaigns import transcript
from controller.campaigns.rehearsal import rehearse
from controller.campaigns.soak.schedules import schedule
from controller.errors import UsageError


@pytest.mark.parametrize("seed", range(1, 12))
def test_what_is_written_is_read_back_and_plays_to_the_same_bytes(seed: int) -> None:
    run = schedule("covering-active", seed)
    again = transcript.parse(transcript.text(run, "a story"))
    assert again.given.operations == run.given.operations
    assert [(one.kind, one.target, one.args) for one in again.faults] == [
        (one.kind, one.target, one.args) for one in run.faults
    ]
    assert again.sim == run.sim and again.phases.load_s == run.phases.load_s
    if seed < 4:
        assert rehearse(again).logs == rehearse(run).logs


def test_a_line_that_makes_no_sense_is_named() -> None:
    with pytest.raises(UsageError, match="no line `subscribbe c1 s1 \\*`: no such command"):
        transcript.parse("simulate simple\nlinks b1-b2\n\nsubscribbe c1 s1 *")
    with pytest.raises(UsageError, match="no such fault lasts"):
        transcript.parse("simulate simple\nlinks b1-b2\n\nheal cut link:b1-b2")
