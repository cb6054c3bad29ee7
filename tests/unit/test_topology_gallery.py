from __future__ import annotations

import itertools
from pathlib import Path
from xml.etree import ElementTree

import pytest

from controller import cli, topology
from controller.topology import Topology
from controller.topology.gallery import page, picture
from controller.topology.gallery.boxes import overlap
from controller.topology.generators import GENERATORS, find
from tests.integration.lab import ROOT

READY = [topology.load(name) for name in topology.names()]


@pytest.fixture(scope="module")
def made() -> dict[str, str]:
    return page.files()


def test_the_page_and_its_drawings_are_not_stale(made: dict[str, str]) -> None:
    docs = ROOT / "docs"
    there = {page.PAGE, *(f"{page.FOLDER}/{path.name}" for path in (docs / page.FOLDER).iterdir())}
    assert there == set(made)
    for path, text in made.items():
        assert (docs / path).read_text() == text, f"{path} is stale: make docs"


def test_every_ready_topology_and_every_generator_is_shown(made: dict[str, str]) -> None:
    for name in (*topology.names(), *GENERATORS):
        assert f"\n### {name}\n" in made[page.PAGE]
    for line in made[page.PAGE].splitlines():
        if line.startswith("!["):
            assert line.rpartition("(")[2].rstrip(")") in made


@pytest.mark.parametrize("one", READY, ids=lambda one: one.name)
def test_no_two_labels_overlap_and_every_broker_and_link_is_drawn(one: Topology) -> None:
    places = picture.places(one)
    assert set(places) == set(one.broker_names)
    for a, b in itertools.combinations(places, 2):
        assert overlap(a, b, places) is None, (a, b)
    drawn = ElementTree.fromstring(picture.svg(one))
    kinds = [element.tag.rpartition("}")[2] for element in drawn.iter()]
    assert kinds.count("line") == len(one.links)
    assert kinds.count("text") == len(one.brokers) + len(one.roles)


def test_children_stand_below_their_parent_or_beside_it_in_the_next_column() -> None:
    places = picture.places(topology.load("tree-13"))
    assert places["root"][1] < places["north"][1] == places["south"][1] < places["north1"][1]
    columns = picture.places(topology.load("core-chain-49"))
    assert columns["core_a"][0] == columns["core_e"][0] < columns["inner_c1"][0] < columns["edge_c1_1"][0]


def test_a_stub_domain_is_together_apart_from_the_others() -> None:
    places = picture.places(topology.load("transit-stub-64"))
    domains: dict[str, list[tuple[float, float]]] = {}
    for name, place in places.items():
        domains.setdefault(name.rpartition("_")[0], []).append(place)
    middles = {
        name: (sum(x for x, _ in found) / len(found), sum(y for _, y in found) / len(found))
        for name, found in domains.items()
        if name.startswith("s")
    }
    for name, (x, y) in places.items():
        if name.startswith("s"):
            away = {other: (x - at_x) ** 2 + (y - at_y) ** 2 for other, (at_x, at_y) in middles.items()}
            assert min(away, key=lambda other: away[other]) == name.rpartition("_")[0]


def test_any_size_can_be_drawn() -> None:
    alone = find("line").make(find("line").Parameters(brokers=1))
    assert set(picture.places(alone)) == {"b1"}
    crowd = find("barabasi-albert").make(find("barabasi-albert").Parameters(seed=3, brokers=20))
    assert picture.svg(crowd) == picture.svg(crowd)


def test_the_command_says_what_it_wrote(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stale = tmp_path / "topologies" / "gone-5.svg"
    stale.parent.mkdir()
    stale.write_text("<svg/>")
    assert cli.run(["topology", "gallery", "--output", str(tmp_path)]) == 0
    assert capsys.readouterr().out.startswith(f"{tmp_path / 'topologies.md'}: ")
    assert not stale.exists() and (tmp_path / "topologies" / "tree-13.svg").is_file()
    assert cli.run(["topology", "gallery", "--output", "/proc/nowhere"]) == 64
