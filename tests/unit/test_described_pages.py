"""The pages that are written from code are those that the code would write now; `make docs` writes them anew."""

from __future__ import annotations

import re

from controller import workloads
from controller.campaigns import describing, model
from controller.workloads import churns, moves
from controller.workloads import describing as describing_workloads
from tests.integration.lab import ROOT


def test_campaigns_md_is_not_stale() -> None:
    assert (ROOT / "docs" / "campaigns.md").read_text() == describing.page()


def test_workloads_md_is_not_stale() -> None:
    assert (ROOT / "docs" / "workloads.md").read_text() == describing_workloads.page()


def test_every_campaign_says_what_it_is_for_and_is_linked() -> None:
    page = describing.page()
    for name in model.names():
        assert f"](#{name})" in page and f"\n## {name}\n" in page
        said = re.split(r"\n## ", page.split(f"\n## {name}\n")[1])[0]
        assert len(said.split("| |")[0].split()) > 20, f"{name}.yaml begins with a comment on what it is for"
        assert all(f"| {fault.kind} |" in said for spec in model.runs(model.load(name)) for fault in spec.faults)


def test_every_kind_and_model_has_its_parameters() -> None:
    page = describing_workloads.page()
    for name in (*workloads.names(), *churns.MODELS, *moves.MODELS):
        assert re.search(rf"^## (?:churn: |moves: )?{name}$", page, re.MULTILINE)
