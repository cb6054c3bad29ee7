"""GML, the Graph Modelling Language: keys with numbers, texts or lists in brackets."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import NamedTuple

from controller.topology.importing import network
from controller.topology.importing.network import Edge, Network

DEPTH_MAX = 40

_TOKEN = re.compile(
    r"""(?P<skip>\s+|\#[^\n]*)
      | (?P<text>"[^"]*")
      | (?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.]))
      | (?P<key>[A-Za-z_]\w*)
      | (?P<bracket>[\[\]])""",
    re.VERBOSE,
)


class Token(NamedTuple):
    kind: str
    text: str
    where: str


class Pair(NamedTuple):
    key: str
    value: str | list[Pair]
    where: str


def parse(data: bytes, source: str) -> Network:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise network.problem(f"{source}:{line}", "not UTF-8; save the file as UTF-8 text") from None
    graphs = [pair for pair in _pairs(text, source) if pair.key == "graph" and isinstance(pair.value, list)]
    if len(graphs) != 1:
        where = graphs[1].where if graphs else f"{source}:1"
        raise network.problem(where, f"{len(graphs)} graphs; a GML file with one `graph [ … ]` is wanted")
    inside = graphs[0].value
    assert isinstance(inside, list)
    nodes, edges = [], []
    for pair in inside:
        if pair.key == "node":
            said = _said(pair)
            nodes.append(network.node(_needed(pair, said, "id"), said, pair.where))
        elif pair.key == "edge":
            said = _said(pair)
            edges.append(Edge(_needed(pair, said, "source"), _needed(pair, said, "target"), pair.where))
    named = {pair.key.lower(): pair.value for pair in inside if isinstance(pair.value, str)}
    return Network(named.get("network") or named.get("label", ""), nodes, edges)


def _said(pair: Pair) -> dict[str, str]:
    if not isinstance(pair.value, list):
        raise network.problem(pair.where, f"`{pair.key}` should have a list: {pair.key} [ … ]")
    return {one.key: one.value for one in pair.value if isinstance(one.value, str)}


def _needed(pair: Pair, said: dict[str, str], name: str) -> str:
    if name not in said:
        raise network.problem(pair.where, f"this {pair.key} has no `{name}`; add one")
    return said[name]


def _pairs(text: str, source: str) -> list[Pair]:
    whole: list[Pair] = []
    lists = [whole]
    opened: list[str] = []
    tokens = _tokens(text, source)
    for token in tokens:
        if token.text == "]" and token.kind == "bracket":
            if not opened:
                raise network.problem(token.where, "a `]` that nothing opened")
            opened.pop()
            lists.pop()
            continue
        if token.kind != "key":
            raise network.problem(token.where, f"`{token.text[:20]}` stands where a key should, such as `node`")
        value = next(tokens, None)
        if value is None or value.kind == "key" or value.text == "]":
            raise network.problem(token.where, f"`{token.text}` has no value; a number, a text in quotes or [ … ]")
        if value.kind != "bracket":
            lists[-1].append(Pair(token.text, _value(value), token.where))
            continue
        if len(lists) > DEPTH_MAX:
            raise network.problem(value.where, f"nested deeper than {DEPTH_MAX} levels")
        inner: list[Pair] = []
        lists[-1].append(Pair(token.text, inner, token.where))
        lists.append(inner)
        opened.append(value.where)
    if opened:
        raise network.problem(opened[-1], "a `[` that is never closed")
    return whole


def _value(token: Token) -> str:
    return html.unescape(token.text[1:-1]) if token.kind == "text" else token.text


def _tokens(text: str, source: str) -> Iterator[Token]:
    line, position = 1, 0
    while position < len(text):
        found = _TOKEN.match(text, position)
        where = f"{source}:{line}"
        if not found:
            what = "a text in quotes that never ends" if text[position] == '"' else f"`{text[position]}` is not GML"
            raise network.problem(where, what)
        kind, said = str(found.lastgroup), found.group()
        if kind != "skip":
            yield Token(kind, said, where)
        line += said.count("\n")
        position = found.end()
