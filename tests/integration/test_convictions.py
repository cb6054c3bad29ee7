"""The audit is believed because it convicts: wrong schemes, and logs that were tampered with."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from controller.audit import session
from tests.integration.commands import Here

CAMPAIGN = """name: {name}
topology: line-3
scheme: {scheme}
workload: {{kind: attributes, subscriptions: 150, publications: 300, rate_hz: 100, churn_hz: 60, clients: 12}}
phases: {{warm_s: 0, load_s: 3}}
"""


@pytest.fixture(scope="module")
def spark() -> Iterator[None]:
    with session():
        yield


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory, spark: None) -> Path:
    """A run that passes."""
    here = Here(tmp_path_factory.mktemp("honest"))
    run_campaign(here, "covering-active", expect=0)
    (run,) = here.runs()
    return run


def run_campaign(here: Here, scheme: str, expect: int, runtime: str = "process") -> dict[str, Any]:
    (here.directory / "campaign.yaml").write_text(CAMPAIGN.format(name="trial", scheme=scheme))
    here.run("campaign", "run", "campaign.yaml", "--runtime", runtime, expect=expect)
    (run,) = here.runs()
    verdict: dict[str, Any] = json.loads((run / "audit" / "verdict.json").read_text())
    return verdict


def broken(verdict: dict[str, Any]) -> list[str]:
    return [check["name"] for check in verdict["checks"] if check["verdict"] == "fail"]


@pytest.mark.slow
@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("runtime", ["process", "sim"])
@pytest.mark.parametrize(
    ("scheme", "check"),
    [("DropsEveryTenth", "missing"), ("ForgetsTheCovered", "missing"), ("DeliversTwice", "duplicate")],
)
def test_a_wrong_scheme_is_convicted(tmp_path: Path, scheme: str, check: str, runtime: str) -> None:
    verdict = run_campaign(Here(tmp_path), f"tests.mutants.schemes:{scheme}", expect=1, runtime=runtime)
    assert verdict["verdict"] == "fail"
    assert check in broken(verdict)


@pytest.mark.slow
@pytest.mark.parametrize(("renumbered", "status", "said"), [(True, 1, "fail"), (False, 2, "unknown")])
def test_a_deleted_delivery_is_noticed_and_named(
    honest: Path, tmp_path: Path, renumbered: bool, status: int, said: str
) -> None:
    run = tmp_path / "runs" / "tampered"
    shutil.copytree(honest, run)
    deleted = delete_last_delivery(run / "logs" / "driver1.1.jsonl", renumbered)
    here = Here(tmp_path)
    done = here.run("audit", str(run), expect=status)
    assert f"verdict: {said}" in done.stdout
    violations = json.loads((run / "audit" / "violations.json").read_text())
    assert any((v["msg"], v["client"]) == (deleted["msg"], deleted["client"]) for v in violations)


def delete_last_delivery(log: Path, renumbered: bool) -> dict[str, Any]:
    """The last one is of the final publications, when nothing changes any more: it was required."""
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    place = max(i for i, line in enumerate(lines) if line["event"] == "deliver")
    deleted: dict[str, Any] = lines.pop(place)
    if renumbered:
        lines = [{**line, "n": number} for number, line in enumerate(lines, 1)]
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return deleted
