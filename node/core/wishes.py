"""What the clients of a broker want and offer, as they said it: for the last, exact test, and for a successor."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from node.core.filters import Filter, parse
from node.core.messages import (
    Advertise,
    Body,
    Port,
    Publication,
    Snapshot,
    Subscribe,
    Unadvertise,
    Unsubscribe,
    client_port,
)


class Word(Struct, frozen=True, array_like=True):
    """One client's, left for the broker's successor."""

    client: str
    subs: tuple[Subscribe, ...]
    advs: tuple[Advertise, ...]

    @property
    def port(self) -> Port:
        return client_port(self.client)

    @property
    def body(self) -> Snapshot:
        """As if the client said it."""
        return Snapshot(self.subs, self.advs)


NOTHING = Snapshot((), ())


class Wishes:
    def __init__(self) -> None:
        self._filters: dict[Port, dict[str, Filter]] = {}
        self._subs: dict[Port, dict[str, Subscribe]] = {}
        self._advs: dict[Port, dict[str, Advertise]] = {}

    def note(self, port: Port, body: Body) -> None:
        match body:
            case Subscribe():
                self._subs.setdefault(port, {})[body.sub] = body
                self._filters.setdefault(port, {})[body.sub] = parse(body.filter, body.lang)
            case Unsubscribe():
                self._subs.get(port, {}).pop(body.sub, None)
                self._filters.get(port, {}).pop(body.sub, None)
            case Advertise():
                self._advs.setdefault(port, {})[body.adv] = body
            case Unadvertise():
                self._advs.get(port, {}).pop(body.adv, None)
            case Snapshot():
                self._replace(port, body)

    def _replace(self, port: Port, said: Snapshot) -> None:
        if said.subs is not None:
            self._subs[port] = {one.sub: one for one in said.subs}
            self._filters[port] = {one.sub: parse(one.filter, one.lang) for one in said.subs}
        if said.advs is not None:
            self._advs[port] = {one.adv: one for one in said.advs}

    def matching(self, port: Port, publication: Publication) -> tuple[str, ...]:
        """Whatever a scheme thinks, a client gets only what it asked for."""
        return tuple(
            sub
            for sub, wanted in self._filters.get(port, {}).items()
            if wanted.lang == publication.lang and wanted.matches(publication.content)
        )

    def words(self) -> Iterator[Word]:
        """Of all who want or offer anything."""
        for port in dict.fromkeys([*self._subs, *self._advs]):
            subs, advs = self._subs.get(port, {}), self._advs.get(port, {})
            if subs or advs:
                yield Word(port.name, tuple(subs.values()), tuple(advs.values()))
