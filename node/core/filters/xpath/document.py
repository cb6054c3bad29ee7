"""An XML text as its elements, flat and immutable; what is no document for us is refused while it is read.

Inside the element comments and processing instructions are allowed and mean nothing; outside it there is only space.
The limits keep a hostile text cheap, and what they let through every other XML reader takes too.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import NoReturn
from xml.parsers import expat

from node.core.filters.errors import ContentError
from node.core.filters.xpath.names import NAME_LENGTH_MAX

BYTES_MAX = 1 << 20
DEPTH_MAX = 200
# Elements and attributes together.
PARTS_MAX = 1 << 16

_NO_ATTRIBUTES: Mapping[str, str] = MappingProxyType({})
_SMALL_LENGTH_MAX = 1 << 14
_SMALL_CACHED_MAX = 64
_LARGE_CACHED_MAX = 2


class Document:
    """Elements are numbered in document order, so 0 is the root and n's descendants are n + 1 to `ends[n]` - 1."""

    __slots__ = ("attributes", "ends", "names", "numbers", "parents", "spans", "text")

    names: tuple[str, ...]
    parents: tuple[int, ...]  # -1 above the root
    ends: tuple[int, ...]
    attributes: tuple[Mapping[str, str], ...]
    text: str  # all the text there is
    spans: tuple[tuple[int, int], ...]  # which slice of `text` is the element's string value
    numbers: Mapping[str, tuple[int, ...]]  # name → the elements of that name, in document order

    def __init__(self, reader: _Reader) -> None:
        self.names = tuple(reader.names)
        self.parents = tuple(reader.parents)
        self.ends = tuple(reader.ends)
        self.attributes = tuple(reader.attributes)
        self.text = "".join(reader.texts)
        self.spans = tuple(zip(reader.starts, reader.stops, strict=True))
        numbers: dict[str, list[int]] = {}
        for number, name in enumerate(reader.names):
            numbers.setdefault(name, []).append(number)
        self.numbers = {name: tuple(own) for name, own in numbers.items()}

    def __len__(self) -> int:
        return len(self.names)

    def value(self, element: int) -> str:
        """The XPath string value: all the text in the element, however deep."""
        start, stop = self.spans[element]
        return self.text[start:stop]


def document(content: str) -> Document:
    """Raises ContentError. The last texts are remembered, so that many filters can ask for the same one."""
    return _small(content) if len(content) <= _SMALL_LENGTH_MAX else _large(content)


def _read(content: str) -> Document:
    if len(content) > BYTES_MAX:
        raise ContentError(f"the document has more than {BYTES_MAX} bytes")
    try:
        data = content.encode()
    except UnicodeEncodeError:
        raise ContentError("the document has half a surrogate pair; it must be well-formed Unicode") from None
    if len(data) > BYTES_MAX:
        raise ContentError(f"the document has more than {BYTES_MAX} bytes")
    if not content.lstrip(" \t\r\n").startswith("<"):
        raise ContentError("a document is one XML element, such as <a/>; nothing stands before it")
    reader = _Reader()
    parser = expat.ParserCreate("utf-8")
    parser.buffer_text = True
    parser.ordered_attributes = True
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.characters
    parser.CommentHandler = reader.comment
    parser.ProcessingInstructionHandler = reader.instruction
    parser.StartDoctypeDeclHandler = _refuse_doctype
    parser.XmlDeclHandler = _refuse_declaration
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        why = expat.ErrorString(error.code)
        raise ContentError(
            f"not a well-formed XML document: {why} (line {error.lineno}, column {error.offset + 1})"
        ) from None
    return Document(reader)


_small = lru_cache(maxsize=_SMALL_CACHED_MAX)(_read)
_large = lru_cache(maxsize=_LARGE_CACHED_MAX)(_read)


class _Reader:
    def __init__(self) -> None:
        self.names: list[str] = []
        self.parents: list[int] = []
        self.ends: list[int] = []
        self.attributes: list[Mapping[str, str]] = []
        self.texts: list[str] = []
        self.starts: list[int] = []
        self.stops: list[int] = []
        self.length = 0
        self.parts = 0
        self.open: list[int] = []

    def start(self, name: str, attributes: list[str]) -> None:
        self.parts += 1 + len(attributes) // 2
        if self.parts > PARTS_MAX:
            raise ContentError(f"the document has more than {PARTS_MAX} elements and attributes")
        if len(self.open) == DEPTH_MAX:
            raise ContentError(f"the document is more than {DEPTH_MAX} levels deep")
        _check_name(name)
        for own in attributes[::2]:
            _check_name(own)
        number = len(self.names)
        self.names.append(name)
        self.parents.append(self.open[-1] if self.open else -1)
        self.ends.append(0)
        self.attributes.append(dict(zip(attributes[::2], attributes[1::2], strict=True)) or _NO_ATTRIBUTES)
        self.starts.append(self.length)
        self.stops.append(0)
        self.open.append(number)

    def end(self, _name: str) -> None:
        number = self.open.pop()
        self.ends[number] = len(self.names)
        self.stops[number] = self.length

    def characters(self, text: str) -> None:
        self.texts.append(text)
        self.length += len(text)

    def comment(self, _text: str) -> None:
        self._check_is_inside("a comment")

    def instruction(self, target: str, _text: str) -> None:
        self._check_is_inside("a processing instruction")
        _check_name(target)

    def _check_is_inside(self, what: str) -> None:
        if not self.open:
            raise ContentError(f"{what} stands outside the document's element; only inside is it allowed")


def _check_name(name: str) -> None:
    if ":" in name or name == "xmlns":
        raise ContentError(f"`{_shown(name)}`: documents have no namespaces, and no colon in a name")
    if len(name) > NAME_LENGTH_MAX:
        raise ContentError(f"`{_shown(name)}`: a name has at most {NAME_LENGTH_MAX} characters")


def _refuse_doctype(*_declared: object) -> NoReturn:
    raise ContentError("a document has no DOCTYPE")


def _refuse_declaration(*_declared: object) -> NoReturn:
    raise ContentError("a document has no XML declaration; leave `<?xml …?>` out")


def _shown(name: str) -> str:
    return name if len(name) <= 40 else name[:40] + "…"
