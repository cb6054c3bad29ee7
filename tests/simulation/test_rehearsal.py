"""A run in memory is the run that a person would get on the disk, and the quick judge judges it."""

from __future__ import annotations

from pathlib import Path

from controller.campaigns import model, run
from controller.campaigns.model import RunSpec
from controller.campaigns.rehearsal import rehearse
from controller.progress import Silent

FAULTS = (
    "[{kind: loss, target: 'link:*', share: 0.2, at_s: 0.3, for_s: 1}, {kind: kill, target: 'broker:b2', at_s: 1.5}]"
)


def smoke(**overrides: str) -> RunSpec:
    (spec,) = model.runs(model.load("smoke", overrides))
    return spec


def test_it_has_the_same_bytes_as_the_run_on_disk_and_leaves_nothing(tmp_path: Path) -> None:
    spec = smoke(faults=FAULTS)
    directory = tmp_path / "runs" / "one"
    ran = run.carry_out(spec, run.cluster_spec(spec, "sim", (), (), directory, "one"), Silent())
    rehearsed = rehearse(spec)
    assert ran.outcome == rehearsed.course.outcome == "complete"
    assert rehearsed.logs == {path.name: path.read_bytes() for path in (directory / "logs").iterdir()}
    judged = rehearsed.judgement()
    assert judged.verdict == "pass" and judged.pairs_required > 50, judged.told()


def test_a_wrong_scheme_fails_and_the_check_that_convicts_is_named() -> None:
    judged = rehearse(smoke(scheme="tests.mutants.schemes:DeliversTwice")).judgement()
    assert judged.verdict == "fail" and judged.broken == ("duplicate",)
    assert "again" in judged.told()


def test_a_broker_that_ends_by_itself_leaves_the_verdict_open_with_its_story() -> None:
    rehearsed = rehearse(smoke(scheme="tests.integration.odd_schemes:ToNobody"))
    assert rehearsed.course.outcome == "unknown"
    assert rehearsed.judgement().verdict == "unknown" and "ended by itself" in rehearsed.judgement().told()
