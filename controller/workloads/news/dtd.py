"""What the generators need to know of a DTD: who may stand in whom, in which order, with which attributes."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from lxml import etree

NEWS = Path(__file__).with_name("news.dtd")


class Attribute(NamedTuple):
    name: str
    values: tuple[str, ...]
    """What it may be; empty if that is not said."""


class Model(NamedTuple):
    """One node of a content model: `names` in sequence or as alternatives, or a single element's name."""

    kind: str
    """`seq`, `or`, `element` or `pcdata`."""
    occur: str
    """`once`, `opt`, `mult` or `plus`."""
    name: str = ""
    parts: tuple[Model, ...] = ()


class Element(NamedTuple):
    name: str
    model: Model | None
    """None: nothing may stand in it."""
    children: tuple[str, ...]
    """In the order of the DTD, each once."""
    attributes: tuple[Attribute, ...]

    @property
    def has_text(self) -> bool:
        return self.model is not None and (self.model.kind == "pcdata" or _first(self.model).kind == "pcdata")


class Dtd(NamedTuple):
    root: str
    elements: dict[str, Element]


@cache
def news() -> Dtd:
    return read(NEWS, "news")


def read(path: Path, root: str) -> Dtd:
    declared = etree.DTD(str(path))
    elements = {one.name: _element(one) for one in declared.iterelements()}
    unknown = {child for one in elements.values() for child in one.children} - set(elements)
    if unknown or root not in elements:
        raise ValueError(f"{path} does not declare {', '.join(sorted(unknown)) or root}")
    return Dtd(root, elements)


def _element(declared: Any) -> Element:
    model = _model(declared.content) if declared.content is not None else None
    # libxml2 promises no order of attributes.
    attributes = tuple(sorted(Attribute(one.name, tuple(one.values())) for one in declared.iterattributes()))
    return Element(declared.name, model, tuple(dict.fromkeys(_names(model))) if model else (), attributes)


def _model(content: Any) -> Model:
    """libxml2 keeps `(a, b, c)` as `(a, (b, c))`: flat again."""
    if content.type in ("element", "pcdata"):
        return Model(content.type, content.occur, content.name or "")
    parts: list[Model] = []
    node = content
    while node is not None and node.type == content.type and (node is content or node.occur == "once"):
        parts.append(_model(node.left))
        node = node.right
    if node is not None:
        parts.append(_model(node))
    return Model(content.type, content.occur, parts=tuple(parts))


def _names(model: Model) -> list[str]:
    if model.kind == "element":
        return [model.name]
    return [name for part in model.parts for name in _names(part)]


def _first(model: Model) -> Model:
    return _first(model.parts[0]) if model.parts else model
