"""SVG elements as escaped markup. Attribute values and text children can be anything a stranger wrote."""

from __future__ import annotations

from markupsafe import Markup, escape

Value = str | int | float


def element(tag: str, *children: Markup | str, **attributes: Value | None) -> Markup:
    """`class_` gives `class`, `text_anchor` gives `text-anchor`; attributes that are None are left out."""
    pieces = [f"<{tag}"]
    for name, value in attributes.items():
        if value is not None:
            pieces.append(f' {name.rstrip("_").replace("_", "-")}="{escape(_written(value))}"')
    body = "".join(str(escape(child)) for child in children)
    pieces.append(f">{body}</{tag}>" if body else "/>")
    return Markup("".join(pieces))  # noqa: S704 every piece above was escaped


def group(children: list[Markup], **attributes: Value | None) -> Markup:
    return element("g", *children, **attributes)


def percent(fraction: float) -> str:
    return f"{_written(fraction * 100)}%"


def _written(value: Value) -> str:
    if isinstance(value, float):
        return f"{value:.2f}".rstrip("0").rstrip(".") or "0"
    return str(value)
