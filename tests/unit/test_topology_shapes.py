"""Each generator of a plain shape: what it must be whatever its parameters, and what one seed has always given."""

from __future__ import annotations

from collections import Counter
from statistics import median
from typing import Any

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from controller import yamlfile
from controller.errors import UsageError
from controller.topology import Topology, writing
from controller.topology.files import resolve
from controller.topology.generators import find
from controller.topology.geography import Place, delay_ms, distance_km

SHAPES: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "line": {"brokers": st.integers(1, 20)},
    "ring": {"brokers": st.integers(3, 20)},
    "star": {"brokers": st.integers(2, 20)},
    "grid": {"rows": st.integers(1, 6), "columns": st.integers(1, 6)},
    "balanced-tree": {"fan_out": st.integers(1, 4), "depth": st.integers(1, 3)},
    "redundant-tree": {"width": st.integers(1, 3), "depth": st.integers(1, 3), "redundancy": st.integers(1, 3)},
    "core-chain": {"cores": st.integers(1, 6), "inners": st.integers(1, 3), "last_edges": st.integers(1, 3)},
    "domains": {"domains": st.integers(1, 5), "join": st.sampled_from(["line", "ring", "mesh"])},
    "barabasi-albert": {"brokers": st.integers(4, 30), "links": st.integers(1, 3)},
    "waxman": {"brokers": st.integers(1, 30), "side_km": st.sampled_from([0, 500]), "beta": st.sampled_from([0.01, 1])},
    "random-tree": {"brokers": st.integers(1, 30)},
}
LINKS = {
    "seed": st.integers(0, 99),
    "delay_ms": st.sampled_from([0, 1.5, 2]),
    "delay_ms_max": st.sampled_from([0, 9]),
    "weights": st.sampled_from(["one", "delay", "drawn"]),
}
TREES = {"line", "star", "balanced-tree", "core-chain", "random-tree"}


def made(name: str, **parameters: Any) -> Topology:
    generator = find(name)
    return generator.make(generator.Parameters(**parameters))


def edges(one: Topology) -> list[str]:
    return [link.name for link in one.links]


@pytest.mark.parametrize("name", SHAPES)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_whole_the_same_again_and_back_from_its_file(name: str, data: st.DataObject) -> None:
    chosen = data.draw(st.fixed_dictionaries({**LINKS, **SHAPES[name]}))
    one = made(name, **chosen)
    assert made(name, **chosen) == one
    assert resolve(yamlfile.parse(writing.to_yaml(one, "remark"), "t.yaml"), one.name) == one
    assert len(one.tree) == len(one.brokers) - 1
    assert one.is_tree or name not in TREES
    other = made(name, **{**chosen, "delay_ms": 3, "delay_ms_max": 5, "weights": "drawn"})
    assert edges(other) == edges(one), "delays and weights leave the shape alone"
    assert all(link.delay_ms >= 3 and link.weight in range(1, 11) for link in other.links)


@pytest.mark.parametrize("name", SHAPES)
def test_delays_are_fixed_drawn_or_weigh(name: str) -> None:
    still = {"side_km": 0} if name == "waxman" else {}
    assert {link.delay_ms for link in made(name, delay_ms=4, **still).links} == {4}
    drawn = made(name, delay_ms=4, delay_ms_max=8, weights="delay", **still).links
    assert all(4 <= link.delay_ms <= 8 and link.weight == link.delay_ms for link in drawn)
    assert len({link.delay_ms for link in drawn}) > 1
    with pytest.raises(UsageError, match="delay_ms_max is 3, less than delay_ms, 4"):
        made(name, delay_ms=4, delay_ms_max=3)


def test_shapes_are_what_networkx_calls_by_the_name() -> None:
    twins = {
        "line": nx.path_graph(7), "ring": nx.cycle_graph(7), "star": nx.star_graph(6),
        "grid": nx.grid_2d_graph(3, 4), "balanced-tree": nx.balanced_tree(3, 2),
    }  # fmt: skip
    given: dict[str, dict[str, int]] = {"grid": {"rows": 3, "columns": 4}, "balanced-tree": {"fan_out": 3, "depth": 2}}
    for name, twin in twins.items():
        one = made(name, **given.get(name, {"brokers": 7}))
        assert nx.is_isomorphic(nx.Graph([(link.a, link.b) for link in one.links]), twin)


def test_a_redundant_tree_links_every_broker_of_a_node_to_every_broker_of_its_parent() -> None:
    one = made("redundant-tree", width=2, depth=3, redundancy=2)
    assert Counter(broker.role for broker in one.brokers) == {"producer": 1, "inner": 12, "consumer": 8}
    assert one.neighbours("n1_2b") == ("n1a", "n1b", "n1_2_1", "n1_2_2")
    assert [broker.name for broker in one.group("n1_2")] == ["n1_2a", "n1_2b"]
    assert len(one.groups) == 1 + 2 + 4 + 8
    assert one.path("n0", "n2_1_2") == ("n0", "n2a", "n2_1a", "n2_1_2")


def test_without_redundancy_it_is_a_balanced_tree() -> None:
    one = made("redundant-tree", width=3, depth=2, redundancy=1)
    assert nx.is_isomorphic(nx.Graph([(link.a, link.b) for link in one.links]), nx.balanced_tree(3, 2))


def test_the_core_chain_has_the_papers_counts() -> None:
    one = made("core-chain")
    assert Counter(broker.role for broker in one.brokers) == {"core": 5, "inner": 14, "producer": 3, "consumer": 27}
    producers = [broker.name for broker in one.brokers if broker.role == "producer"]
    assert all(one.path(name, "core_a")[2:] == ("core_e", "core_d", "core_c", "core_b", "core_a") for name in producers)


def test_domains_have_six_leaves_for_six_engines() -> None:
    one = made("domains")
    assert Counter(broker.role for broker in one.brokers) == {"head": 4, "inner": 12, "leaf": 24}
    assert one.is_tree
    assert len(made("domains", join="ring").left_out) == 1
    assert len(made("domains", join="mesh").left_out) == 3


@pytest.mark.parametrize("links", [1, 2, 3])
def test_preferential_attachment_makes_hubs(links: int) -> None:
    one = made("barabasi-albert", brokers=300, links=links)
    assert len(one.links) == links * (300 - links)
    degrees = [len(one.neighbours(name)) for name in one.broker_names]
    assert min(degrees[links + 1 :]) == links
    assert max(degrees) > 8 * median(degrees)


def test_waxmans_links_are_shorter_than_chance_and_as_slow_as_they_are_long() -> None:
    near = made("waxman", brokers=100, alpha=0.05).links
    far = made("waxman", brokers=100, alpha=1).links
    assert sum(link.delay_ms for link in near) / len(near) < 0.5 * sum(link.delay_ms for link in far) / len(far)
    longest_ms = 1000 * 2**0.5 / 199.86
    assert all(0 < link.delay_ms < longest_ms for link in far)


@pytest.mark.parametrize(
    ("name", "parameters", "pinned"),
    [
        (
            "barabasi-albert",
            {"brokers": 7, "seed": 3},
            "b1-b2/0/1 b1-b3/0/1 b3-b4/0/1 b1-b4/0/1 b1-b5/0/1 b3-b5/0/1 b1-b6/0/1 b3-b6/0/1 b3-b7/0/1 b5-b7/0/1",
        ),
        (
            "waxman",
            {"brokers": 6, "seed": 3},
            "b3-b5/1.479/1.479 b1-b2/1.841/1.841 b1-b6/2.002/2.002 b1-b5/2.266/2.266 b1-b4/2.597/2.597",
        ),
        ("random-tree", {"brokers": 6, "seed": 3}, "b1-b2/0/1 b2-b3/0/1 b2-b4/0/1 b3-b5/0/1 b4-b6/0/1"),
        (
            "ring",
            {"brokers": 4, "weights": "drawn", "delay_ms_max": 5, "seed": 3},
            "b1-b2/4.833/1 b2-b3/4.028/3 b3-b4/4.613/10 b4-b1/3.437/7",
        ),
    ],
)
def test_a_seed_means_the_same_overlay_for_ever(name: str, parameters: dict[str, Any], pinned: str) -> None:
    one = made(name, **parameters)
    assert " ".join(f"{link.name}/{link.delay_ms}/{link.weight}" for link in one.links) == pinned


@pytest.mark.parametrize(
    ("name", "parameters", "told"),
    [
        ("grid", {"rows": 1000, "columns": 1000}, "that would be 1000000 brokers; 10000 at most"),
        ("balanced-tree", {"fan_out": 1000, "depth": 2}, "that would be 1001001 brokers"),
        ("redundant-tree", {"width": 100, "depth": 20}, "brokers; 10000 at most"),
        ("core-chain", {"inners": 50, "edges": 50, "cores": 26}, "brokers; 10000 at most"),
        ("domains", {"domains": 1000, "inners": 100}, "brokers; 10000 at most"),
        ("barabasi-albert", {"brokers": 3, "links": 3}, "3 links for each of 3 brokers"),
    ],
)
def test_what_cannot_be_is_told(name: str, parameters: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        made(name, **parameters)


def test_distances_on_the_globe() -> None:
    assert distance_km(Place(0, 0), Place(0, 180)) == pytest.approx(20_015, abs=1)
    assert distance_km(Place(90, 0), Place(90, 77)) == pytest.approx(0, abs=1e-6)
    london, new_york = Place(51.5074, -0.1278), Place(40.7128, -74.0060)
    assert distance_km(london, new_york) == pytest.approx(5570, abs=3)
    assert delay_ms(london, new_york) == pytest.approx(27.87, abs=0.05)
