from __future__ import annotations

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from node.core.overlay import spanning_tree

Links = list[tuple[str, str, int]]


@st.composite
def overlays(draw: st.DrawFn, weights: st.SearchStrategy[int]) -> tuple[list[str], Links]:
    size = draw(st.integers(1, 9))
    brokers = [f"b{i}" for i in range(1, size + 1)]
    pairs = [(a, b) for a in brokers for b in brokers if a < b]
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    return brokers, [(a, b, draw(weights)) for a, b in chosen]


def graph(brokers: list[str], links: Links) -> nx.Graph:
    made = nx.Graph()
    made.add_nodes_from(brokers)
    made.add_weighted_edges_from(links)
    return made


@given(overlays(st.integers(1, 4)))
def test_it_spans_every_part_with_the_least_weight(overlay: tuple[list[str], Links]) -> None:
    brokers, links = overlay
    whole = graph(brokers, links)
    weight_of = {(a, b): weight for a, b, weight in links}
    edges = spanning_tree(brokers, links)

    tree = graph(brokers, [(a, b, weight_of[a, b]) for a, b in edges])
    assert nx.is_forest(tree)
    assert list(map(sorted, nx.connected_components(tree))) == list(map(sorted, nx.connected_components(whole)))
    assert tree.size("weight") == nx.minimum_spanning_tree(whole).size("weight")


@given(overlays(st.just(1)))
def test_equal_weights_give_a_tree_as_shallow_as_the_overlay(overlay: tuple[list[str], Links]) -> None:
    brokers, links = overlay
    tree = graph(brokers, [(a, b, 1) for a, b in spanning_tree(brokers, links)])
    assert nx.single_source_shortest_path_length(tree, "b1") == nx.single_source_shortest_path_length(
        graph(brokers, links), "b1"
    )


@given(overlays(st.integers(1, 3)), st.randoms(use_true_random=False))
def test_the_order_in_which_links_are_told_does_not_matter(overlay: tuple[list[str], Links], random: object) -> None:
    brokers, links = overlay
    shuffled_brokers = random.sample(brokers, len(brokers))  # type: ignore[attr-defined]
    shuffled_links = [(b, a, weight) for a, b, weight in random.sample(links, len(links))]  # type: ignore[attr-defined]
    assert spanning_tree(shuffled_brokers, shuffled_links) == spanning_tree(brokers, links)


def test_a_ring_is_opened_far_from_the_least_name() -> None:
    ring = [("b1", "b2", 1), ("b2", "b3", 1), ("b3", "b4", 1), ("b4", "b1", 1)]
    assert spanning_tree(["b1", "b2", "b3", "b4"], ring) == {("b1", "b2"), ("b2", "b3"), ("b1", "b4")}


def test_a_heavy_link_is_left_out() -> None:
    triangle = [("b1", "b2", 5), ("b2", "b3", 1), ("b1", "b3", 1)]
    assert spanning_tree(["b1", "b2", "b3"], triangle) == {("b1", "b3"), ("b2", "b3")}


def test_a_link_to_nowhere_is_named() -> None:
    with pytest.raises(ValueError, match="b1-b9 ends at b9"):
        spanning_tree(["b1"], [("b1", "b9", 1)])
