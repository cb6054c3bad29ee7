from __future__ import annotations

import json
from pathlib import Path

import pytest

from controller import cli
from controller.papers.xroute import KINDS, SCHEMES, Setting, Sizes, Task, Varied, measure, variations
from controller.papers.xroute_page import Results, claims, page, varied_rows

SMALL = Setting(sizes=(20, 60))


def made_up(factor: float) -> list[Sizes]:
    """Populations of 100 and 1,000 whose tables are as the paper says, if the factor is 1."""
    tables = {"xroute": (10, 40), "simple-directed": (60 * factor, 600 * factor), "match-first": (60, 2000 * factor)}
    return [
        Sizes(kind, scheme, size, mean, round(maximum))
        for kind in KINDS
        for size in (100, 1000)
        for scheme, (mean, maximum) in tables.items()
    ]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_small_population_is_measured_and_routed_perfectly(scheme: str) -> None:
    measured = measure(Task(SMALL, "unique", scheme))
    assert [one.subscriptions for one in measured] == [20, 60]
    assert all(0 < one.mean <= one.maximum <= one.subscriptions for one in measured)
    assert measured == measure(Task(SMALL, "unique", scheme)), "the same seed measures the same"


def test_xroute_needs_no_more_entries_than_simple_and_simple_no_more_than_match_first() -> None:
    xroute, simple, first = (measure(Task(SMALL, "multiple", scheme))[-1].maximum for scheme in SCHEMES)
    assert xroute <= simple <= first == 60


def test_claims_are_judged_by_what_was_measured() -> None:
    fine = {claim.what: claim.holds for claim in claims(Results(made_up(1)))}
    poor = {claim.what: claim.holds for claim in claims(Results(made_up(0.1)))}
    assert fine["mean table of simple over XROUTE's"] and fine["largest table of match-first over XROUTE's"]
    assert not poor["mean table of simple over XROUTE's"] and not poor["largest table of match-first over XROUTE's"]


def test_each_variation_changes_one_thing() -> None:
    as_above, *others = variations(SMALL, 50)
    fields = Setting.__struct_fields__
    for other in others:
        changed = [name for name in fields if getattr(other.setting, name) != getattr(as_above.setting, name)]
        assert len(changed) == 1, other.what


def test_the_factors_of_a_variation_are_simples_over_xroutes() -> None:
    (row,) = varied_rows([Varied("-", Sizes("multiple", "x", 9, 10, 40), Sizes("multiple", "s", 9, 60, 600))])
    assert list(row.values()) == ["-", 6, 15, 4, 10]


def test_the_page_has_the_four_figures_and_opens_by_itself() -> None:
    xroute, simple, *_ = made_up(1)
    made = page(Results(made_up(1)), SMALL, [Varied("overlay 9", xroute, simple)])
    assert "overlay 9" in made
    assert all(f"Figure {number}" in made for number in (6, 7, 8, 9))
    assert "<script src" not in made and 'href="http' not in made


def test_the_command_prints_its_table_and_writes_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "page.html"
    assert cli.run(["paper", "xroute", "--small", "--output", str(path), "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert len(told["sizes"]) == 6 and len(told["claims"]) == 7 and len(told["varied"]) == 10
    assert "Figure 9" in path.read_text()
