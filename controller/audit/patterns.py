"""The audit's own judge of XPath: lxml decides, which shares no code with the brokers.

Only the language of the contract is read; what else lxml would understand is as unreadable as nonsense.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

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

MATCHES = pa.schema([("m", pa.int64()), ("filter", pa.string())])


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


def matcher(texts: Sequence[str]) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Batches of (m, document) in, batches of (m, filter) out, a row for each of the patterns that matches."""

    def match(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        judges = [(text, pattern(text)) for text in texts]
        for batch in batches:
            found: tuple[list[int], list[str]] = ([], [])
            for m, content in zip(batch.column("m").to_pylist(), batch.column("document").to_pylist(), strict=True):
                root = document(content)
                for text, judge in judges:
                    if judge(root):
                        found[0].append(m)
                        found[1].append(text)
            yield pa.RecordBatch.from_arrays([pa.array(found[0], pa.int64()), pa.array(found[1], pa.string())],
                                             schema=MATCHES)  # fmt: skip

    return match
