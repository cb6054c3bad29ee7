"""The audit's own judge of XPath: lxml decides, which shares no code with the brokers.

Only the language of the contract is read; what else lxml would understand is as unreadable as nonsense.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import pyarrow as pa
from lxml import etree

_NAME = r"[^\W\d][\w.\-·]*"
_ATTRIBUTE = rf'@{_NAME}(?:="[^"]*")?'
_TOKEN = re.compile(rf'(?P<axis>//?)|(?P<open>\[)|(?P<close>\])|(?P<test>{_ATTRIBUTE}|\.="[^"]*")|(?P<below>\.//)'
                    rf"|(?P<step>{_NAME}|\*)")  # fmt: skip
# What may follow what; a predicate holds one test, or a path that begins with a step or with `.//`.
_AFTER = {
    "start": {"axis"},
    "axis": {"step"},
    "step": {"axis", "open", "close"},
    "open": {"step", "below", "test"},
    "below": {"step"},
    "test": {"close"},
    "close": {"axis", "open", "close"},
}
_ENDS = ("step", "close")

MATCHES = pa.schema([("k", pa.int64()), ("f", pa.int64())])


class Asked(NamedTuple):
    """A pattern, by number: for one publisher's documents only, or for all; for those of its time, if that is known."""

    f: int
    text: str
    only: str | None
    from_t: int | None
    until_t: int | None

    def means(self, document: Document) -> bool:
        return (
            self.only in (None, document.publisher)
            and (self.from_t is None or document.last_t >= self.from_t)
            and (self.until_t is None or document.first_t <= self.until_t)
        )


class Document(NamedTuple):
    k: int
    publisher: str | None
    first_t: int
    last_t: int
    document: str


DOCUMENTS = Document._fields


class PatternError(ValueError):
    pass


class DocumentError(ValueError):
    pass


def pattern(text: str) -> etree.XPath:
    """Called with a document, whether it matches; raises PatternError."""
    _check(text)
    try:
        return etree.XPath(f"boolean({text})", smart_strings=False)
    except (etree.XPathError, ValueError) as problem:
        raise PatternError(f"no pattern: {problem}") from problem


def _check(text: str) -> None:
    position, last, depth = 0, "start", 0
    while position < len(text):
        found = _TOKEN.match(text, position)
        kind = found.lastgroup if found is not None else None
        if found is None or kind is None or kind not in _AFTER[last]:
            raise PatternError(f"no pattern goes on like this: {text[position : position + 20]!r}")
        depth += {"open": 1, "close": -1}.get(kind, 0)
        if depth < 0:
            raise PatternError(f"too many brackets are closed at {position}")
        position, last = found.end(), kind
    if depth or last not in _ENDS:
        raise PatternError("the pattern has no end")


def document(text: str) -> etree._Element:
    """Raises DocumentError."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        root = etree.fromstring(text, parser)
    except (etree.XMLSyntaxError, ValueError) as problem:
        raise DocumentError(f"no document: {problem}") from problem
    if root.getroottree().docinfo.doctype:
        raise DocumentError("no document: it has a document type")
    return root


def matcher(asked: Sequence[Asked]) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Batches of documents in, batches of (k, f) out, a row for each of the patterns that matches."""

    def match(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        index = _Index(asked)
        for batch in batches:
            found: tuple[list[int], list[int]] = ([], [])
            for said in map(Document, *(batch.column(name).to_pylist() for name in DOCUMENTS)):
                matched = index.matched(said)
                found[0].extend([said.k] * len(matched))
                found[1].extend(matched)
            yield pa.RecordBatch.from_pydict({"k": found[0], "f": found[1]}, MATCHES)

    return match


class _Index:
    """Every name in a pattern has to be in the document, so a pattern is tried only where its rarest one is."""

    def __init__(self, asked: Sequence[Asked]) -> None:
        self._judges = {text: pattern(text) for text in dict.fromkeys(one.text for one in asked)}
        self._needed = {text: names(text) for text in self._judges}
        popularity = Counter(name for wanted in self._needed.values() for name in wanted)
        self._by_name: dict[str | None, list[Asked]] = {}
        for one in asked:
            rarest = min(self._needed[one.text], key=lambda name: (popularity[name], name), default=None)
            self._by_name.setdefault(rarest, []).append(one)

    def matched(self, said: Document) -> list[int]:
        root = document(said.document)
        there = _names_in(root)
        verdicts: dict[str, bool] = {}
        found = []
        for name in (None, *there):
            for one in self._by_name.get(name, ()):
                if self._needed[one.text] <= there and one.means(said):
                    if one.text not in verdicts:
                        verdicts[one.text] = self._judges[one.text](root)
                    if verdicts[one.text]:
                        found.append(one.f)
        return found


def names(text: str) -> frozenset[str]:
    """Of elements, and of attributes with their `@`, that a document must have to match."""
    found = set()
    for token in _TOKEN.finditer(text):
        if token["step"] and token["step"] != "*":
            found.add(token["step"])
        elif token["test"] and token["test"].startswith("@"):
            found.add(token["test"].partition("=")[0])
    return frozenset(found)


def _names_in(root: etree._Element) -> set[str]:
    found = set()
    for element in root.iter(etree.Element):
        found.add(element.tag)
        found.update("@" + name for name in element.keys())  # noqa: SIM118 (an element is no mapping)
    return found
