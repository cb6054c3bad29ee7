"""Runs side by side: numbers as the audit left them, a dash for what is not told, and no false claim of sameness."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from controller.compare import MEASURES, Compared, compare, write_page
from controller.compare.rows import NOTHING
from tests.integration.commands import Here
from tests.unit import report_runs
from tests.unit.test_pages import balanced

EXPERIMENT = {"workload": {"kind": "attributes", "rate_hz": 40}, "faults": [], "phases": {"load_s": 5}}


def made(run: Path, **facts: Any) -> Path:
    report_runs.passing(run)
    report_runs.write_json(run / "run.json", {**report_runs.run_json(), **EXPERIMENT, **facts})
    return run


def hops(run: Path, *kinds: str) -> Path:
    folder = run / "tables" / "event=forward"
    folder.mkdir(parents=True)
    pq.write_table(
        pa.table({"kind": [*kinds, "publication"], "to": ["north"] * len(kinds) + ["c1"]}), folder / "0.parquet"
    )
    return run


def texts(compared: Compared, key: str) -> list[str]:
    (measure,) = [one for one in MEASURES if one.key == key]
    return [measure.text(one) for one in compared.runs]


def test_runs_are_called_by_what_tells_them_apart(tmp_path: Path) -> None:
    runs = [made(tmp_path / runtime, runtime=runtime) for runtime in ("docker", "process", "sim")]
    compared = compare(runs)
    assert [one.label for one in compared.runs] == ["docker", "process", "sim"]
    assert compared.is_same_experiment
    assert texts(compared, "verdict") == ["pass"] * 3
    assert texts(compared, "deliveries") == ["50,903"] * 3


def test_runs_that_nothing_tells_apart_are_called_by_their_names(tmp_path: Path) -> None:
    runs = [made(tmp_path / "one"), made(tmp_path / "two"), made(tmp_path / "other" / "two")]
    assert [one.label for one in compare(runs).runs] == ["one", "two (2)", "two (3)"]


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"seed": 9}, "seed"),
        ({"workload": {"kind": "attributes", "rate_hz": 41}}, "workload"),
        ({"faults": [{"kind": "cut"}]}, "faults"),
    ],
)
def test_another_experiment_is_called_one(tmp_path: Path, change: dict[str, Any], word: str) -> None:
    compared = compare([made(tmp_path / "one"), made(tmp_path / "two", **change)])
    assert compared.different == (word,) and compared.untold == ()
    assert f"differ in {word}" in compared.grounds()
    assert "not the same experiment" in write_page(compared, tmp_path / "page.html").read_text()


def test_one_name_for_two_topologies_is_noticed(tmp_path: Path) -> None:
    runs = [made(tmp_path / "one"), made(tmp_path / "two")]
    shape = json.loads((runs[1] / "topology.json").read_text())
    shape["links"][0]["delay_ms"] = 7
    report_runs.write_json(runs[1] / "topology.json", shape)
    assert compare(runs).different == ("topology",)


def test_what_a_run_does_not_say_is_not_taken_for_the_same(tmp_path: Path) -> None:
    compared = compare([made(tmp_path / "one"), made(tmp_path / "two", workload=None)])
    assert not compared.is_same_experiment and compared.untold == ("workload",)


def test_messages_are_counted_between_brokers_by_kind(tmp_path: Path) -> None:
    run = hops(made(tmp_path / "one"), "publication", "publication", "subscribe", "settled")
    compared = compare([run, made(tmp_path / "two")])
    assert compared.runs[0].kinds == {"publication": 2, "settled": 1, "subscribe": 1}
    assert texts(compared, "publication_hops") == ["2", NOTHING]
    assert texts(compared, "control_messages") == ["2", NOTHING]


def test_messages_that_were_not_logged_are_not_taken_for_none(tmp_path: Path) -> None:
    told = hops(made(tmp_path / "all", log="all"), "publication", "subscribe")
    untold = hops(made(tmp_path / "publications", log="publications"), "publication")
    compared = compare([told, untold])
    assert texts(compared, "control_messages") == ["1", NOTHING]
    assert texts(compared, "publication_hops") == ["1", "1"]
    assert [one.sent("subscribe") for one in compared.runs] == [1, None]
    assert [one.label for one in compared.runs] == ["all", "publications"]


def test_runs_with_hardly_anything_are_dashes_and_a_whole_page(tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    report_runs.write_json(bare / "audit" / "verdict.json", {})
    compared = compare([report_runs.minimal(tmp_path / "minimal"), bare, report_runs.hostile(tmp_path / "hostile")])
    assert texts(compared, "verdict")[1] == "unknown"
    assert (
        texts(compared, "delay_p99_ns")[1]
        == texts(compared, "table_mean")[1]
        == texts(compared, "scheme")[1]
        == NOTHING
    )
    page = write_page(compared, tmp_path / "page.html").read_text()
    assert not {"script", "img", "link"} & set(balanced(page).seen)


def test_the_page_shows_each_run_in_every_chart_and_can_stand_alone(tmp_path: Path) -> None:
    runs = [made(tmp_path / name, scheme=name) for name in ("xroute", "simple")]
    page = write_page(compare(runs), tmp_path / "page.html").read_text()
    balanced(page)
    assert page.count("</svg>xroute</span>") == page.count("</svg>simple</span>") == 5
    assert "All runs had the same topology" in page
    assert len(page) < 1_000_000


def test_the_command_prints_the_table_and_writes_the_page(tmp_path: Path) -> None:
    here = Here(tmp_path)
    for name in ("xroute", "simple"):
        made(tmp_path / "runs" / name, scheme=name)
    told = here.run("compare", "xroute", "simple")
    assert told.stdout.splitlines()[0].split() == ["xroute", "simple"]
    assert Path(told.stdout.splitlines()[-1].removeprefix("page: ")).parent == tmp_path / "runs"
    found = here.json("compare", "xroute", "runs/simple", "--output", "mine.html")
    assert [run["scheme"] for run in found["runs"]] == ["xroute", "simple"] and found["different"] == []
    assert (tmp_path / "mine.html").is_file()


def test_the_status_is_that_of_the_worst_verdict(tmp_path: Path) -> None:
    here = Here(tmp_path)
    made(tmp_path / "good")
    report_runs.undecided(tmp_path / "doubtful")
    report_runs.failing(tmp_path / "bad")
    here.run("compare", "good", "doubtful", expect=2)
    here.run("compare", "good", "doubtful", "bad", expect=1)


def test_one_run_alone_is_refused(tmp_path: Path) -> None:
    made(tmp_path / "one")
    assert "two or more" in Here(tmp_path).complaint("compare", "one", "./one")
    assert "no run directory" in Here(tmp_path).complaint("compare", "one", "two")
