"""The page as a reader gets it: whole, self-contained, and closed to what strangers wrote into their logs."""

from __future__ import annotations

import json
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest

from controller.audit.report import PAGE_BYTES_MAX, write_report
from controller.errors import UsageError
from tests.unit import report_runs as runs

VOID = {"meta", "br", "img", "input", "hr", "link"}


class Page(HTMLParser):
    """Elements, attributes and visible text; notes every element that was not closed where it had to be."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.source = path.read_text(encoding="utf-8")
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.misnested: list[str] = []
        self._open: list[str] = []
        self._texts: list[str] = []
        self.feed(self.source)
        self.misnested += self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open.pop() != tag:
            self.misnested.append(tag)

    def handle_data(self, data: str) -> None:
        if not {"script", "style"} & set(self._open):
            self._texts.append(data)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", " ".join(self._texts))

    def classed(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for _, attributes in self.elements if name in (attributes.get("class") or "").split()]


def page_of(run: Path) -> Page:
    return Page(write_report(run))


ALL = {
    "passing": runs.passing,
    "failing": runs.failing,
    "undecided": runs.undecided,
    "minimal": runs.minimal,
    "hostile": runs.hostile,
    "net-200": lambda run: runs.large(run, runs.transit_stub(200)),
    "tree-200": lambda run: runs.large(run, runs.wide_tree(200)),
}


@pytest.mark.parametrize("name", ALL)
def test_the_page_is_well_formed_small_and_asks_the_network_for_nothing(name: str, tmp_path: Path) -> None:
    page = page_of(ALL[name](tmp_path / "run"))
    assert page.misnested == []
    assert len(page.source.encode()) < PAGE_BYTES_MAX
    for tag, attributes in page.elements:
        assert tag not in ("link", "img", "iframe", "object", "embed", "base", "form"), tag
        assert "src" not in attributes
        assert (attributes.get("href") or "#").startswith("#")
        assert not [attribute for attribute in attributes if attribute.startswith("on")]
    assert "url(" not in page.source and "@import" not in page.source and "http://" not in page.source
    targets = {attributes.get("id") for _, attributes in page.elements}
    wanted = {(attributes.get("href") or "#")[1:] for tag, attributes in page.elements if tag == "a"}
    assert wanted <= targets


def test_a_pass_says_so_first_and_counts_what_it_excused(tmp_path: Path) -> None:
    page = page_of(runs.passing(tmp_path / "demo-1"))
    assert page.text.index("Pass") < page.text.index("48,214 deliveries were required") < page.text.index("Checks")
    assert '<h1 id="verdict">Pass</h1>' in page.source
    assert "79 losses excused by the promise" in page.text
    assert "79 losses inside fault windows are excused" in page.text
    assert "brokerlab campaign run demo --seed 8127" in page.text
    assert "routing is perfect again by itself" in page.text
    assert len(page.classed("broker")) == 13 and len(page.classed("link")) == 12


def test_faults_are_marked_on_the_drawing_and_shaded_in_every_chart(tmp_path: Path) -> None:
    page = page_of(runs.passing(tmp_path / "run"))
    killed = [broker["data-node"] for broker in page.classed("broker") if "mark-death" in str(broker["class"])]
    assert killed == ["north", "east2"]
    marked = [mark for mark in page.classed("mark-cut") if "broker" not in str(mark["class"]) and "x" in mark]
    assert len(marked) == 1
    charts = 3 + 8
    applied = [shade for shade in page.classed("shade-death") if "settle" not in str(shade["class"])]
    assert len(applied) == 2 * charts
    labels = re.findall(r'class="fault-label[^"]*wide-only">([^<]+)<', page.source)
    assert labels == ["delay root-east", "cut root-south", "kill north", "kill east2"] * 2


def test_a_fail_lists_each_violation_with_its_path(tmp_path: Path) -> None:
    page = page_of(runs.failing(tmp_path / "run"))
    assert "41 violations of what the scheme promises: missing and duplicate." in page.text
    assert len(page.classed("violation")) == 37 + 4 + 50
    assert "c7 did not get p7:7, published by p7 and required by s7" in page.text
    story = page.text[page.text.index("c7 did not get p7:7") :]
    assert "p7 → south1 → south → root → north sent there, never handled" in story
    assert "p7 → south1 → south → south3 → c501 ✕ c7 never got it" in story
    assert "+0 ms south1 handles, from p7 line 4050" in story
    assert "+410 µs south1 forwards to south line 4051" in story
    lit = json.loads(str(page.classed("show")[0]["data-lit"]))
    assert ["south", "root"] in lit["edges"] and "root" in lit["nodes"]


def test_an_unknown_is_explained_and_not_taken_for_a_pass(tmp_path: Path) -> None:
    page = page_of(runs.undecided(tmp_path / "run"))
    assert "It cannot be told: the logs are damaged in 3 places." in page.text
    assert "An unknown is not a pass." in page.text
    assert "That is not the same as none." in page.text
    assert "5 findings that could not be decided" in page.text
    assert "See " not in page.text
    assert "gap: n goes from 20417 to 20431" in page.text


def test_a_verdict_nobody_knows_is_unknown(tmp_path: Path) -> None:
    run = runs.passing(tmp_path / "run")
    runs.write_json(run / "audit" / "verdict.json", runs.base_verdict("probably"))
    assert '<h1 id="verdict">Unknown</h1>' in page_of(run).source


def test_a_pass_claims_no_more_than_was_checked(tmp_path: Path) -> None:
    verdict = runs.base_verdict("pass")
    verdict["checks"] = [check for check in verdict["checks"] if check["name"] != "order"]
    runs.write_json(tmp_path / "audit" / "verdict.json", verdict)
    page = page_of(tmp_path)
    assert "Every check that the audit ran holds." in page.text
    assert "in order" not in page.text[: page.text.index("Checks")]


def test_next_to_nothing_still_makes_a_page(tmp_path: Path) -> None:
    page = page_of(runs.minimal(tmp_path / "run"))
    for sentence in ("no required pair", "No delivery was measured.", "No queue was sampled.", "nothing to draw"):
        assert sentence in page.text
    assert "Not in this run directory: audit/delay.parquet" in page.text


def test_hostile_names_stay_text(tmp_path: Path) -> None:
    page = page_of(runs.hostile(tmp_path / "run"))
    scripts = [attributes for tag, attributes in page.elements if tag == "script"]
    data = [{"type": "application/json", "id": name} for name in ("replay", "readouts")]
    assert scripts == [*data, {}]
    assert "alert(1)" in page.text
    assert not re.search("[\u202a-\u202e\u2066-\u2069\x00\x1b]", page.source)
    assert page.misnested == []


def test_only_our_own_script_may_run(tmp_path: Path) -> None:
    page = page_of(runs.hostile(tmp_path / "run"))
    policy = next(attributes["content"] for tag, attributes in page.elements if "http-equiv" in attributes)
    assert re.fullmatch(
        r"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-[A-Za-z0-9+/]{43}='", str(policy)
    )


def test_a_flood_of_violations_is_counted_and_leaves_room_for_the_rare_ones(tmp_path: Path) -> None:
    run = runs.failing(tmp_path / "run")
    rows = [runs.violation(n, hops=90) for n in range(5000)]
    rows += [runs.violation(n, check="order") for n in range(3)]
    runs.write_violations(run, rows)
    page = page_of(run)
    assert len(page.source.encode()) < PAGE_BYTES_MAX
    assert len(page.classed("violation")) == 200
    assert page.text.count("50 records left out here") == 197
    assert "4,803 more of this check are counted" in page.text


def test_a_page_that_would_be_too_big_shows_fewer_paths(tmp_path: Path) -> None:
    run = runs.failing(tmp_path / "run")
    rows = [runs.violation(n, hops=60) for n in range(250)]
    for row in rows:
        for hop in row["path"]:
            hop.update(dict.fromkeys(("node", "from", "to"), "<" * 80))
    runs.write_violations(run, rows)
    page = page_of(run)
    assert len(page.source.encode()) < PAGE_BYTES_MAX
    assert 0 < len(page.classed("violation")) < 200


def test_tables_written_by_spark_as_folders_are_read(tmp_path: Path) -> None:
    run = runs.failing(tmp_path / "run")
    for table in ("violations", "delay", "queue", "links", "delay_total"):
        path = run / "audit" / f"{table}.parquet"
        folder = path.with_suffix(".folder")
        folder.mkdir()
        shutil.move(path, folder / "part-00000-5f.snappy.parquet")
        (folder / "_SUCCESS").touch()
        folder.rename(path)
    page = page_of(run)
    assert len(page.classed("violation")) == 91
    assert "Not in this run directory" not in page.text


@pytest.mark.parametrize("content", [None, "{", "[1]", "[" * 100_000])
def test_without_a_verdict_there_is_one_clear_error(content: str | None, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / "audit").mkdir()
        (tmp_path / "audit" / "verdict.json").write_text(content)
    with pytest.raises(UsageError, match=r"verdict\.json") as caught:
        write_report(tmp_path)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "report.html").exists()


@pytest.mark.parametrize("table", ["violations", "delay", "queue", "links", "delay_total"])
def test_a_broken_table_is_named(table: str, tmp_path: Path) -> None:
    run = runs.passing(tmp_path / "run")
    (run / "audit" / f"{table}.parquet").write_bytes(b"PAR1 no table PAR1")
    with pytest.raises(UsageError, match=rf"{table}\.parquet"):
        write_report(run)


def test_the_same_run_gives_the_same_page(tmp_path: Path) -> None:
    run = runs.large(tmp_path / "run", runs.transit_stub(64))
    first = write_report(run).read_bytes()
    assert write_report(run).read_bytes() == first
    assert not list(run.glob("*.part"))


@pytest.mark.parametrize("content", ["[1", "[]", "", "\x00\xff"])
def test_what_the_audit_could_not_read_does_not_keep_the_page_from_being_written(content: str, tmp_path: Path) -> None:
    run = runs.failing(tmp_path / "run")
    (run / "run.json").write_text(content)
    (run / "topology.json").write_text(content)
    assert "nothing to draw" in page_of(run).text
