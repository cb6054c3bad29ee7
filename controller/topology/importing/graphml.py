"""GraphML. The parser sees no DOCTYPE: whoever needs one wants entities, and those are refused unread."""

from __future__ import annotations

from typing import NoReturn

# Bare expat and no tree: it can be stopped at a DOCTYPE, before any entity is declared, and knows line numbers.
from xml.parsers import expat

from controller.topology.importing import network
from controller.topology.importing.network import Edge, Network, Node

DEPTH_MAX = 40


def parse(data: bytes, source: str) -> Network:
    reader = _Reader(source)
    try:
        reader.parser.Parse(data, True)
    except expat.ExpatError as error:
        told = expat.errors.messages[error.code] if error.code in expat.errors.messages else str(error)
        raise network.problem(f"{source}:{error.lineno}", f"not XML: {told}") from None
    except (LookupError, ValueError):
        # Raised by expat for an encoding that Python does not have, or that has more than one byte to a letter.
        raise network.problem(f"{source}:1", "the encoding cannot be read; save the file as UTF-8") from None
    if not reader.has_graph:
        raise network.problem(f"{source}:1", "there is no <graph> in it; a GraphML file is wanted")
    return Network(reader.named.get("network") or reader.named.get("label", ""), reader.nodes, reader.edges)


class _Reader:
    def __init__(self, source: str) -> None:
        self.nodes: list[Node] = []
        self.edges: list[Edge] = []
        self.named: dict[str, str] = {}
        self.has_graph = False
        self._source = source
        self._keys: dict[str, str] = {}
        self._open: list[str] = []
        self._id = ""
        self._where = ""
        self._said: dict[str, str] = {}
        self._data: str | None = None
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.buffer_text = True
        self.parser.StartDoctypeDeclHandler = self._doctype
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text

    def _here(self) -> str:
        return f"{self._source}:{self.parser.CurrentLineNumber}"

    def _doctype(self, *_: object) -> NoReturn:
        raise network.problem(self._here(), "a DOCTYPE is not read here, nor are entities; remove it")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        name = tag.rpartition(" ")[2]
        if len(self._open) >= DEPTH_MAX:
            raise network.problem(self._here(), f"nested deeper than {DEPTH_MAX} levels")
        if not self._open and name != "graphml":
            raise network.problem(self._here(), f"<{name}> is not GraphML; the file should begin with <graphml>")
        if name == "graph":
            if self.has_graph:
                raise network.problem(self._here(), "a second <graph>; one network to a file, please")
            self.has_graph = True
        elif name == "key":
            self._keys[self._needed(name, attributes, "id")] = attributes.get("attr.name", attributes["id"])
        elif name == "node":
            self._id, self._where, self._said = self._needed(name, attributes, "id"), self._here(), {}
        elif name == "edge":
            ends = self._needed(name, attributes, "source"), self._needed(name, attributes, "target")
            self.edges.append(Edge(*ends, self._here()))
        elif name == "hyperedge":
            raise network.problem(self._here(), "a <hyperedge> links more than two brokers; write single edges")
        elif name == "data":
            self._data = self._keys.get(attributes.get("key", ""), attributes.get("key", ""))
        self._open.append(name)

    def _end(self, _: str) -> None:
        name = self._open.pop()
        if name == "node":
            self.nodes.append(network.node(self._id, self._said, self._where))
        elif name == "data":
            self._data = None

    def _text(self, text: str) -> None:
        if self._data is None or self._open[-1] != "data":
            return
        owner = self._open[-2]
        if owner == "node":
            self._said[self._data] = self._said.get(self._data, "") + text
        elif owner == "graph":
            key = self._data.lower()
            self.named[key] = self.named.get(key, "") + text

    def _needed(self, tag: str, attributes: dict[str, str], name: str) -> str:
        if name not in attributes:
            raise network.problem(self._here(), f'<{tag}> without {name}; write <{tag} {name}="…">')
        return attributes[name]
