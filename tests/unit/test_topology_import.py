from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller import cli, topology, yamlfile
from controller.errors import UsageError
from controller.topology import Topology, importing, naming, writing
from controller.topology.files import resolve
from controller.topology.geography import Place, delay_ms
from controller.topology.importing import Wishes, gml, graphml
from controller.topology.importing.naming import unique
from controller.topology.importing.settling import settled

NETWORKS = Path(__file__).parent / "networks"


def imported(name: str, wishes: Wishes | None = None) -> Topology:
    return importing.read(NETWORKS / name, wishes or Wishes()).topology


def test_graphml_of_the_topology_zoo() -> None:
    one = imported("harbour.graphml", Wishes(delay_ms=2))
    assert one.broker_names == ("Hafen_Sud", "St_Anna_old", "b2", "b3", "b4", "b5")
    assert [broker.role for broker in one.brokers] == ["inner", "inner", "inner", "inner", "external", "leaf"]
    assert one.description == "Harbour: a made-up & small network: 6 brokers, imported from harbour.graphml"
    apart_ms = delay_ms(Place(53.55, 9.99), Place(52.52, 13.40))
    assert one.link("Hafen_Sud-St_Anna_old").delay_ms == round(apart_ms, 3) == 1.276
    assert [link.delay_ms for link in one.links[3:]] == [2, 2, 2]
    assert {link.weight for link in one.links} == {1}


def test_gml_of_the_topology_zoo() -> None:
    made = importing.read(NETWORKS / "islands.gml", Wishes(weights="delay", largest=True))
    one = made.topology
    assert one.broker_names == ("Gull_Rock", "Gull_rock_2", "c1_2", "leaf_2")
    assert [link.name for link in one.links] == [
        "Gull_Rock-Gull_rock_2",
        "Gull_rock_2-c1_2",
        "c1_2-Gull_Rock",
        "c1_2-leaf_2",
    ]
    assert [link.weight for link in one.links] == [0.311, 0.389, 0.692, 0.001]
    assert made.remarks == [
        "parallel links joined with another: 1",
        "brokers outside the largest part left out: 2",
        "links of unknown length, given 0 ms: 1",
    ]


def test_a_network_in_parts_is_told_with_what_to_do() -> None:
    with pytest.raises(
        UsageError, match=r"in 2 parts \(of 4, 2 brokers\), node `7 Stones & more` is outside .* --largest"
    ):
        imported("islands.gml")


@pytest.mark.parametrize("name", ["harbour.graphml", "islands.gml"])
def test_networkx_reads_the_same_network(name: str) -> None:
    path = NETWORKS / name
    is_xml = name.endswith("graphml")
    ours = (graphml if is_xml else gml).parse(path.read_bytes(), name)
    # networkx wants to be told that an edge may come twice, and has its texts on one line.
    text = path.read_text().replace("graph [", "graph [\n  multigraph 1").replace("Far\nAway", "Far")
    twin = nx.read_graphml(path) if is_xml else nx.parse_gml(text, label="id")
    assert [node.id for node in ours.nodes] == [str(node) for node in twin]
    assert sorted(sorted((edge.source, edge.target)) for edge in ours.edges) == sorted(
        sorted(map(str, ends[:2])) for ends in twin.edges
    )
    places = [(data.get("Latitude"), data.get("Longitude")) for _, data in twin.nodes(data=True)]
    assert [tuple(node.place or (None, None)) for node in ours.nodes] == places


@pytest.mark.parametrize("name", ["harbour.graphml", "islands.gml"])
def test_the_command_writes_a_file_that_loads(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.yaml"
    assert cli.run(["topology", "import", str(NETWORKS / name), "--largest", "--output", str(path)]) == 0
    told = capsys.readouterr()
    assert told.out == ""
    assert "parallel links joined with another: 1" in told.err
    assert path.read_text().startswith(f"# brokerlab topology import {name} --largest\n")
    one = topology.load(path)
    assert one.links == imported(name, Wishes(largest=True)).links


BOMB = b"""<?xml version="1.0"?>
<!DOCTYPE graphml [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>
<graphml><graph><node id="&b;"/></graph></graphml>"""
HEAD = b"<graphml>\n<key id='d1' attr.name='Latitude'/><graph>\n"
FOOT = b"</graph></graphml>"


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (BOMB, "net:2: a DOCTYPE is not read here, nor are entities; remove it"),
        (b"<!DOCTYPE graphml SYSTEM 'file:///etc/passwd'><graphml/>", "net:1: a DOCTYPE is not read here"),
        (b"<!DOCTYPE graphml [<!ENTITY % x SYSTEM 'http://127.0.0.1/'> %x;]><graphml/>", "net:1: a DOCTYPE"),
        (BOMB.decode().encode("utf-16"), "net:2: a DOCTYPE is not read here"),
        (b"<graphml><graph><node id='&x;'/></graph></graphml>", "net:1: not XML: undefined entity"),
        (b"<graphml>\n<graph>\n<node></graphml>", "net:3: <node> without id"),
        (b"<graphml>\n<graph>\n<node id='a'></graphml>", "net:3: not XML: mismatched tag"),
        (b"<html/>", "net:1: <html> is not GraphML"),
        (b"<graphml/>", "net:1: there is no <graph> in it"),
        (HEAD + FOOT, "net: there is no node in it"),
        (HEAD + b"<node id='a'><graph/></node>" + FOOT, "net:3: a second <graph>"),
        (HEAD + b"<hyperedge/>" + FOOT, "net:3: a <hyperedge> links more than two"),
        (
            HEAD + b"<node id='a'/>\n<edge source='a' target='b'/>" + FOOT,
            "net:4: an edge ends at `b`, which is no node",
        ),
        (HEAD + b"<node id='a'/>\n<edge source='a'/>" + FOOT, "net:4: <edge> without target"),
        (HEAD + b"<node id='a'/><node id='a'/>" + FOOT, "net: 2 nodes have the id `a`"),
        (HEAD + b"<node id='a'>\n<data key='d1'>91</data></node>" + FOOT, "net:3: `91` is not a latitude; from -90"),
        (HEAD + b"<node id='a'><data key='d1'>nan</data></node>" + FOOT, "net:3: `nan` is not a latitude"),
        (HEAD + b"<data>" * 50, "net:3: nested deeper than 40 levels"),
        (b"<?xml version='1.0' encoding='klingon'?><graphml/>", "net:1: "),
        (b'graph [\n node [ id 1 ]\n node [ label "x" ] ]', "net:3: this node has no `id`; add one"),
        (b"graph [\n node 3 ]", "net:2: `node` should have a list"),
        (b"graph [ node [ id 1 ]", "net:1: a `[` that is never closed"),
        (b"graph [ ]\n]", "net:2: a `]` that nothing opened"),
        (b"graph [ node [ id ] ]", "net:1: `id` has no value"),
        (b"graph [ 3 4 ]", "net:1: `3` stands where a key should"),
        (b'graph [\n label "x ]', "net:2: a text in quotes that never ends"),
        (b"graph [ a 1 ]\n\x24", "net:2: `$` is not GML"),
        (b"graph [\n\xff ]", "net:2: not UTF-8"),
        (b"graph [ node [ id 1 ] ]\ngraph [ ]", "net:2: 2 graphs"),
        (b"", "net:1: 0 graphs"),
        (b"a [" * 50, "net:1: nested deeper than 40 levels"),
        (b'graph [ node [ id 1 Longitude "east" ] ]', "net:1: `east` is not a longitude; from -180 to 180"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(data: bytes, told: str, tmp_path: Path) -> None:
    path = tmp_path / "net"
    path.write_bytes(data)
    with pytest.raises(UsageError, match=re.escape(told)) as caught:
        importing.read(path, Wishes())
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there_is_wrong_use(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["topology", "import", "/nowhere.gml"]) == 64
    assert "/nowhere.gml: cannot be read: No such file or directory" in capsys.readouterr().err


@given(st.lists(st.tuples(st.text(max_size=60), st.text(max_size=5)), max_size=12))
def test_any_labels_become_names_that_no_two_brokers_share(wishes: list[tuple[str, str]]) -> None:
    names = unique(wishes, ["leaf", "null"])
    assert len({name.lower() for name in names} - {"leaf", "null"}) == len(wishes)
    assert [naming.complaint(name) for name in names] == [None] * len(names)


@given(st.lists(st.tuples(st.text(max_size=20), st.text(max_size=3)), min_size=1, max_size=8), st.text(max_size=30))
def test_any_labels_and_titles_come_back_from_the_file(labels: list[tuple[str, str]], title: str) -> None:
    nodes = [importing.network.Node(str(index), label, None, False) for index, (label, _) in enumerate(labels)]
    edges = [importing.network.Edge("0", node.id, "") for node in nodes[1:]]
    one = settled(importing.network.Network(title, nodes, edges), Path("net.gml"), Wishes()).topology
    assert resolve(yamlfile.parse(writing.to_yaml(one, "remark"), "t.yaml"), "net") == one


@given(st.binary(max_size=60), st.sampled_from([b"", b"<graphml>", b"graph [ node [ id 0 "]))
def test_garbage_is_refused_and_nothing_else_goes_wrong(garbage: bytes, head: bytes) -> None:
    for parse in (graphml.parse, gml.parse):
        with suppress(UsageError):
            parse(head + garbage, "net")
