"""Who is behind which link, and what the ideal tree is: against networkx, and the brokers' own tree."""

from __future__ import annotations

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from controller.audit.overlay import Link, Overlay
from node.core.overlay import spanning_tree

Links = list[tuple[str, str, int]]


@st.composite
def overlays(draw: st.DrawFn) -> tuple[list[str], Links]:
    brokers = [f"b{i}" for i in range(1, draw(st.integers(1, 9)) + 1)]
    pairs = [(a, b) for a in brokers for b in brokers if a < b]
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    return brokers, [(a, b, draw(st.integers(1, 3))) for a, b in chosen]


def made(brokers: list[str], links: Links, on_tree: bool) -> Overlay:
    return Overlay(brokers, [Link(a, b, weight) for a, b, weight in links], on_tree)


def graph(brokers: list[str], links: Links) -> nx.Graph:
    whole = nx.Graph()
    whole.add_nodes_from(brokers)
    whole.add_weighted_edges_from(links)
    return whole


def names(overlay: Overlay, members: int) -> set[str]:
    return {name for name, number in overlay.number_of.items() if members >> number & 1}


@given(overlays())
def test_its_tree_is_the_one_that_brokers_compute(drawn: tuple[list[str], Links]) -> None:
    overlay = made(*drawn, on_tree=True)
    ordered = sorted(drawn[0])
    assert {(ordered[min(hop)], ordered[max(hop)]) for hop in overlay.behind} == set(spanning_tree(*drawn))
    assert overlay.has_one_way


@given(overlays(), st.booleans())
def test_behind_a_link_is_what_its_end_reaches_without_its_beginning(
    drawn: tuple[list[str], Links], on_tree: bool
) -> None:
    overlay = made(*drawn, on_tree=on_tree)
    ordered = sorted(drawn[0])
    used = graph(drawn[0], [(ordered[a], ordered[b], 1) for a, b in overlay.behind])
    assert on_tree or nx.is_isomorphic(used, graph(*drawn))
    for (a, b), members in overlay.behind.items():
        without = used.copy()
        without.remove_node(ordered[a])
        assert names(overlay, members) == nx.node_connected_component(without, ordered[b])
    assert overlay.has_one_way == nx.is_forest(used)


@given(overlays(), st.booleans(), st.data())
def test_the_ideal_tree_leads_to_everybody_the_shortest_way(
    drawn: tuple[list[str], Links], on_tree: bool, data: st.DataObject
) -> None:
    overlay = made(*drawn, on_tree=on_tree)
    ordered = sorted(drawn[0])
    root = data.draw(st.sampled_from(range(len(ordered))))
    wanted = data.draw(st.sets(st.sampled_from(range(len(ordered)))))
    hops = overlay.ideal(root, sum(1 << broker for broker in wanted))
    used = graph(drawn[0], drawn[1])
    if on_tree:
        used = used.edge_subgraph(spanning_tree(*drawn)).copy()
        used.add_nodes_from(ordered)
    taken = nx.DiGraph([(ordered[a], ordered[b], {"weight": used[ordered[a]][ordered[b]]["weight"]}) for a, b in hops])
    taken.add_node(ordered[root])
    assert all(degree <= 1 for _, degree in taken.in_degree())
    reachable = nx.node_connected_component(used, ordered[root])
    far = nx.single_source_dijkstra_path_length(used, ordered[root])
    there = nx.single_source_dijkstra_path_length(taken, ordered[root])
    for broker in wanted:
        assert there.get(ordered[broker]) == (far[ordered[broker]] if ordered[broker] in reachable else None)
    leaves = {name for name in taken if taken.out_degree(name) == 0} - {ordered[root]}
    assert leaves <= {ordered[broker] for broker in wanted}, "no hop leads to nobody"


def test_links_to_brokers_that_are_not_there_are_no_links() -> None:
    overlay = Overlay(["b1"], [Link("b1", "b9"), Link("b1", "b1")], on_tree=False)
    assert overlay.behind == {} and overlay.ideal(0, 1) == set()
