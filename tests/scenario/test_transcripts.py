from __future__ import annotations

from pathlib import Path

import pytest

from tests.scenario.transcript import play

TRANSCRIPTS = sorted(Path(__file__).parent.glob("*.txt"))


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
def test_the_story_comes_out_as_written(path: Path, request: pytest.FixtureRequest) -> None:
    told = play(path.read_text())
    if request.config.getoption("--rewrite"):
        path.write_text(told)
    assert told == path.read_text()
