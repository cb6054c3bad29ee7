"""An XML text as its elements, flat and immutable; what is no document for us is refused while it is read.

Inside the element comments and processing instructions are allowed and mean nothing; outside it there is only space.
The limits keep a hostile text cheap, and what they let through every other XML reader takes too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    """Elements are numbered in document order, so 0 is the root."""

    __slots__ = ("_numbers", "attributes", "names", "parents", "spans", "text")

    names: Sequence[str]
    parents: Sequence[int]  # -1 above the root
    attributes: Sequence[Mapping[str, str]]
    text: str  # all the text there is
    spans: Sequence[tuple[int, int]]  # which slice of `text` is the element's string value

    def __init__(self, reader: _Reader) -> None:
        self.names = reader.names
        self.parents = reader.parents
        self.attributes = reader.attributes
        self.text = "".join(reader.texts)
        self.spans = tuple(zip(reader.starts, reader.stops, strict=True))
        self._numbers: dict[str, list[int]] | None = None

    @property
    def numbers(self) -> Mapping[str, Sequence[int]]:
        """Name → the elements of that name, in document order."""
        if self._numbers is None:
            self._numbers = {}
            for number, name in enumerate(self.names):
                self._numbers.setdefault(name, []).append(number)
        return self._numbers

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


def forget() -> None:
    """The texts that are remembered, so that measuring can begin anew."""
    _small.cache_clear()
    _large.cache_clear()


class _Reader:
    """Is called for every element, so it does little and looks at each name once."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.parents: list[int] = []
        self.attributes: list[Mapping[str, str]] = []
        self.texts: list[str] = []
        self.starts: list[int] = []
        self.stops: list[int] = []
        self._length = 0
        self._attributes = 0
        self._open = [-1]
        self._checked: set[str] = set()

    def start(self, name: str, attributes: list[str]) -> None:
        names, open_ = self.names, self._open
        if attributes:
            self._attributes += len(attributes) // 2
            for own in attributes[::2]:
                if own not in self._checked:
                    self._check(own)
            self.attributes.append(dict(zip(attributes[::2], attributes[1::2], strict=True)))
        else:
            self.attributes.append(_NO_ATTRIBUTES)
        number = len(names)
        if number + self._attributes >= PARTS_MAX:
            raise ContentError(f"the document has more than {PARTS_MAX} elements and attributes")
        if len(open_) > DEPTH_MAX:
            raise ContentError(f"the document is more than {DEPTH_MAX} levels deep")
        if name not in self._checked:
            self._check(name)
        names.append(name)
        self.parents.append(open_[-1])
        self.starts.append(self._length)
        self.stops.append(0)
        open_.append(number)

    def end(self, _name: str) -> None:
        self.stops[self._open.pop()] = self._length

    def characters(self, text: str) -> None:
        self.texts.append(text)
        self._length += len(text)

    def _check(self, name: str) -> None:
        _check_name(name)
        self._checked.add(name)

    def comment(self, _text: str) -> None:
        self._check_is_inside("a comment")

    def instruction(self, target: str, _text: str) -> None:
        self._check_is_inside("a processing instruction")
        _check_name(target)

    def _check_is_inside(self, what: str) -> None:
        if len(self._open) == 1:
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
