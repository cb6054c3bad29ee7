from __future__ import annotations

from itertools import pairwise

import networkx as nx
import pytest

from controller import topology
from controller.errors import UsageError
from controller.topology import Broker, Link, Topology

GROUPS = Topology(
    "groups",
    "d",
    (Broker("a1", "inner", "a"), Broker("b1", "leaf", "b1"), Broker("a2", "inner", "a")),
    (Link("a1", "b1"), Link("a2", "b1")),
)


def test_a_group_is_its_brokers_in_the_topologys_order() -> None:
    assert [broker.name for broker in GROUPS.group("a")] == ["a1", "a2"]
    assert [broker.name for broker in GROUPS.group("b1")] == ["b1"]
    assert GROUPS.groups == ("a", "b1")


def test_an_unknown_group_is_answered_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match="no group `c` in groups; known: a, b1"):
        GROUPS.group("c")


def test_a_path_goes_by_the_tree_and_not_by_a_link_that_the_tree_leaves_out() -> None:
    ring = topology.load("ring-6")
    assert ring.path("b4", "b5") == ("b4", "b3", "b2", "b1", "b6", "b5")
    assert ring.path("b1", "b1") == ("b1",)


@pytest.mark.parametrize("name", topology.names())
def test_every_path_is_the_one_on_the_tree(name: str) -> None:
    one = topology.load(name)
    tree = nx.Graph(sorted(one.tree))
    first = one.broker_names[0]
    for end in one.broker_names:
        way = one.path(first, end)
        assert list(way) == nx.shortest_path(tree, first, end)
        assert all(one.link(f"{a}-{b}") for a, b in pairwise(way))
        assert one.path(end, first) == way[::-1]


def test_a_path_names_the_broker_that_is_not_there() -> None:
    with pytest.raises(UsageError, match="no broker `b7` in ring-6"):
        topology.load("ring-6").path("b1", "b7")
