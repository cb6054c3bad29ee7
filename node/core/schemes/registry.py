"""The schemes there are: ours, those that other packages offer as entry points, and `module:Class` for one's own."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

import msgspec

from node.core.schemes.base import Scheme, Site
from node.core.schemes.covering_active import CoveringActive
from node.core.schemes.flooding import Flooding
from node.core.schemes.match_first import MatchFirst
from node.core.schemes.simple import Simple, SimpleDirected
from node.core.schemes.xroute.scheme import XRoute, XRouteCanonical

ENTRY_POINTS = "brokerlab.schemes"

_OURS: dict[str, type[Scheme]] = {
    scheme.name: scheme
    for scheme in (Flooding, MatchFirst, Simple, SimpleDirected, CoveringActive, XRoute, XRouteCanonical)
}


class UnknownScheme(ValueError):
    """A name or a parameter that no scheme answers to."""


def names() -> list[str]:
    return sorted({*_OURS, *(entry.name for entry in entry_points(group=ENTRY_POINTS))})


def find(name: str) -> type[Scheme]:
    if name in _OURS:
        return _OURS[name]
    for entry in entry_points(group=ENTRY_POINTS):
        if entry.name == name:
            return _checked(name, entry.load())
    module, _, attribute = name.partition(":")
    if attribute:
        try:
            return _checked(name, getattr(import_module(module), attribute))
        except (ImportError, AttributeError) as error:
            raise UnknownScheme(f"scheme {name} cannot be loaded: {error}") from None
    raise UnknownScheme(f"no scheme is called {name!r}; known are {', '.join(names())}")


def _checked(name: str, found: Any) -> type[Scheme]:
    if isinstance(found, type) and issubclass(found, Scheme):
        return found
    raise UnknownScheme(f"{name} is no routing scheme: it must be a class derived from {Scheme.__name__}")


def build(name: str, site: Site, parameters: dict[str, Any]) -> Scheme:
    scheme = find(name)
    try:
        return scheme(site, msgspec.convert(parameters, scheme.Parameters))
    except msgspec.ValidationError as error:
        raise UnknownScheme(f"parameters of {name}: {error}") from None
