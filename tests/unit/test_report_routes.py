"""A message's ways are told only where its records form a tree a person can take in."""

from __future__ import annotations

from pathlib import Path

from controller.audit.report.model import Hop, RunData, Violation
from controller.audit.report.reading import read_run
from controller.audit.report.routes import Story, story
from tests.unit import report_runs as runs


def hop(node: str, event: str, other: str, t: int = runs.START_T) -> Hop:
    return Hop(
        t, node, event, other if event == "handle" else "", other if event == "forward" else "", "publication", 1
    )


def told(data: RunData, *path: Hop, omitted: int = 0) -> Story:
    violation = Violation("missing", "fail", "c9", "p:1", "s1", runs.START_T, "f3", False, "lost", path, omitted)
    return story(violation, data, 28)


def test_ways_share_their_beginning_and_say_how_they_ended(tmp_path: Path) -> None:
    data = read_run(runs.passing(tmp_path / "run"), 0)
    found = told(
        data,
        hop("south1", "handle", "p"),
        hop("south1", "forward", "south"),
        hop("south", "handle", "south1"),
        hop("south", "forward", "south2"),
        hop("south", "forward", "root"),
        hop("root", "handle", "south"),
    )
    assert [branch.nodes for branch in found.branches] == [
        ["p", "south1", "south", "south2"],
        ["p", "south1", "south", "root"],
    ]
    assert [branch.shared for branch in found.branches] == [0, 3]
    assert [branch.end for branch in found.branches] == ["sent there, never handled", "handled there, not passed on"]
    assert found.unreached and found.fault == "kill north"


def test_a_client_that_was_sent_the_message_is_not_called_unreached(tmp_path: Path) -> None:
    data = read_run(runs.passing(tmp_path / "run"), 0)
    found = told(data, hop("south1", "handle", "p"), hop("south1", "forward", "c9"))
    assert [branch.end for branch in found.branches] == [""]
    assert not found.unreached


def test_what_is_no_tree_is_told_as_records_only(tmp_path: Path) -> None:
    data = read_run(runs.passing(tmp_path / "run"), 0)
    twice = (hop("a", "forward", "b"), hop("a", "forward", "c"), hop("b", "forward", "d"), hop("c", "forward", "d"))
    circle = (hop("a", "forward", "b"), hop("b", "forward", "a"))
    for path in (twice, circle, ()):
        found = told(data, *path)
        assert found.branches == []
        assert len(found.steps) == len(path)
        assert not found.unreached


def test_a_shortened_path_claims_no_ends(tmp_path: Path) -> None:
    data = read_run(runs.passing(tmp_path / "run"), 0)
    found = told(data, hop("south1", "handle", "p"), hop("south1", "forward", "south"), omitted=9)
    assert found.branches == [] and found.gap_after == 28
