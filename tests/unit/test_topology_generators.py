from __future__ import annotations

import heapq
import re
import shlex
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from controller import cli, topology, yamlfile
from controller.errors import UsageError
from controller.topology import Topology, files, writing
from controller.topology.files import resolve
from controller.topology.generators import GENERATORS, find
from controller.topology.generators.transit_stub import TransitStubParameters

parameters = st.builds(
    TransitStubParameters,
    seed=st.integers(0, 99),
    transits=st.integers(1, 4),
    transit_nodes=st.sampled_from([1, 1.5, 3]),
    stubs=st.sampled_from([1, 2.5]),
    stub_nodes=st.sampled_from([1, 2, 4.3]),
    p_stub=st.sampled_from([0, 0.4, 1]),
    delay_ms=st.sampled_from([0, 0.1, 2]),
    consumers=st.integers(0, 5),
    producers=st.integers(0, 2),
)


def made(given_parameters: TransitStubParameters) -> Topology:
    return find("transit-stub").make(given_parameters)


def domain(name: str) -> str:
    return name.rpartition("_")[0]


def way(one: Topology, start: str, end: str) -> list[str]:
    """The way of least weight."""
    frontier: list[tuple[float, list[str]]] = [(0, [start])]
    seen: set[str] = set()
    while True:
        weight, path = heapq.heappop(frontier)
        if path[-1] == end:
            return path
        if path[-1] not in seen:
            seen.add(path[-1])
            for other in one.neighbours(path[-1]):
                heapq.heappush(frontier, (weight + one.link(f"{path[-1]}-{other}").weight, [*path, other]))


@settings(max_examples=60, deadline=None)
@given(parameters)
def test_a_generated_overlay_is_whole_and_comes_back_from_its_file(chosen: TransitStubParameters) -> None:
    one = made(chosen)
    assert len(one.tree) == len(one.brokers) - 1
    assert resolve(yamlfile.parse(writing.to_yaml(one, "remark"), "t.yaml"), one.name) == one
    assert made(chosen) == one
    for role in ("consumer", "producer"):
        edges = [broker.name for broker in one.brokers if broker.role == role]
        assert len(edges) == getattr(chosen, f"{role}s")
        assert all(one.broker(other).role == "stub" for name in edges for other in one.neighbours(name))
        assert all(len(one.neighbours(name)) == 1 for name in edges)


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_weights_keep_routes_where_they_belong(seed: int) -> None:
    one = made(
        TransitStubParameters(
            seed=seed, transits=3, transit_nodes=3, stubs=1.5, stub_nodes=4, transit_stub_links=5, stub_stub_links=5
        )
    )
    routers = [broker.name for broker in one.brokers]
    for start in routers[::3]:
        for end in routers[::2]:
            passed = {domain(name) for name in way(one, start, end)}
            if domain(start) == domain(end):
                assert passed == {domain(start)}
            stubs = {name for name in passed if name.startswith("s")}
            assert stubs <= {domain(start), domain(end)}


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_tree_of_the_brokers_uses_no_redundant_link(seed: int) -> None:
    plain = TransitStubParameters(seed=seed, transits=3, transit_nodes=3)
    redundant = TransitStubParameters(seed=seed, transits=3, transit_nodes=3, transit_stub_links=6, stub_stub_links=6)
    one = made(redundant)
    assert len(one.links) == len(made(plain).links) + 12
    for stub in {domain(broker.name) for broker in one.brokers if broker.role == "stub"}:
        leaving = [edge for edge in one.tree if (domain(edge[0]) == stub) != (domain(edge[1]) == stub)]
        assert len(leaving) == 1


def test_the_number_of_brokers_is_what_the_means_say() -> None:
    for seed in range(20):
        assert len(made(TransitStubParameters(seed=seed)).brokers) == 64
    thousand = TransitStubParameters(transits=5, transit_nodes=4, stubs=7, stub_nodes=7)
    assert len(made(thousand).brokers) == 1000


READY = {
    "balanced-tree-31", "barabasi-albert-50", "core-chain-49", "domains-4x10", "grid-5x5", "redundant-tree-21",
    "star-17", "transit-stub-64", "waxman-50", "xroute-89",
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(READY))
def test_a_ready_overlay_is_what_its_command_makes(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = (files.DIRECTORY / f"{name}.yaml").read_text()
    remark = re.match("# brokerlab (.*)\n", text)
    assert remark
    assert cli.run(shlex.split(remark[1])) == 0
    assert capsys.readouterr().out == text


def test_every_file_with_a_command_is_looked_at() -> None:
    assert {path.stem for path in files.DIRECTORY.glob("*.yaml") if path.read_text().startswith("# ")} == READY


def test_the_papers_overlay_has_its_consumers_and_its_producer() -> None:
    roles = [broker.role for broker in topology.load("xroute-89").brokers]
    assert (roles.count("consumer"), roles.count("producer")) == (24, 1)
    assert roles.count("transit") + roles.count("stub") == 64


def test_a_file_is_written_and_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "tree.yaml"
    assert cli.run(["topology", "generate", "random-tree", "--brokers", "30", "--output", str(path)]) == 0
    told = capsys.readouterr()
    assert told.out == ""
    assert "a random tree of 30 brokers" in told.err
    tree = topology.load(path)
    assert len(tree.links) == 29
    assert max(len(tree.neighbours(name)) for name in tree.broker_names) <= 4


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["transit-stub", "--stubs", "0"], "'--stubs'"),
        (["transit-stub", "--p-stub", "nan"], "'--p-stub'"),
        (["transit-stub", "--stub-stub-links", "999"], "stub_stub_links is 999"),
        (["transit-stub", "--transits", "100", "--stub-nodes", "100"], "10000 at most"),
        (["torus"], "No such command 'torus'"),
        (["random-tree", "--output", "/nowhere/x.yaml"], "/nowhere/x.yaml cannot be written"),
    ],
)
def test_bad_options_are_wrong_use(words: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["topology", "generate", *words]) == 64
    assert told in capsys.readouterr().err


def test_an_unknown_generator_is_answered_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match="no generator `transit`; did you mean `transit-stub`"):
        find("transit")
    assert len(GENERATORS) == 12
