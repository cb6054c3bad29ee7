"""What a broker takes from a peer, and what it refuses; nothing is half applied."""

from __future__ import annotations

from typing import Any

import msgspec

from node.core.errors import PeerError
from node.core.filters import ContentError, FilterError, check_content, parse
from node.core.messages import Advertise, Body, Port, Publish, Snapshot, Subscribe, kind_of_body

Refusal = tuple[str, str]


def accept_publication(port: Port, publish: Publish, header_type: Any) -> object:
    """The header as the scheme wants it; raises PeerError."""
    publication = publish.publication
    try:
        check_content(publication.content, publication.lang)
        if port.is_broker:
            return publish.header if header_type is None else msgspec.convert(publish.header, header_type)
    except (ContentError, msgspec.ValidationError) as error:
        raise PeerError(publication.msg, str(error)) from None
    if publication.publisher != port.name or publication.msg != f"{port.name}:{publication.seq}":
        raise PeerError(publication.msg, f"{port.name} may publish only under its own name")
    return None


def accept_body(body: Body) -> tuple[Body | None, list[Refusal]]:
    """The body without what does not parse, None if nothing is left of it; and what was refused, with the reason."""
    refused: list[Refusal] = []
    if isinstance(body, Snapshot):
        subs, advs = body.subs, body.advs
        if subs is not None:
            subs = tuple(s for s in subs if _parses(s.sub, s, refused))
        if advs is not None:
            advs = tuple(a for a in advs if _parses(a.adv, a, refused))
        return Snapshot(subs, advs, body.complete), refused
    if isinstance(body, Subscribe):
        return (body if _parses(body.sub, body, refused) else None), refused
    if isinstance(body, Advertise):
        return (body if _parses(body.adv, body, refused) else None), refused
    for text, lang in body.texts:
        try:
            parse(text, lang)
        except FilterError as error:
            return None, [(kind_of_body(body), str(error))]
    return body, refused


def _parses(what: str, body: Subscribe | Advertise, refused: list[Refusal]) -> bool:
    try:
        parse(body.filter, body.lang)
    except FilterError as error:
        refused.append((what, str(error)))
        return False
    return True
