"""Churn: subscribers who change their minds, and subscribers who leave and come back."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from random import Random
from typing import Protocol

from controller.workloads.plans import AnyOperation, Attach, Detach, Subscribe, Unsubscribe

LEAVES = 0.1
AWAY_MS = (300, 1500)


class Interests(Protocol):
    def draw(self) -> str:
        """The next subscriber's filter text."""
        ...


def operations(
    subscribed: list[Subscribe],
    leavers: dict[str, str],
    interests: Interests,
    random: Random,
    churn_hz: float,
    load_ms: float,
) -> list[AnyOperation]:
    """Events at `churn_hz` on average, at random times; `leavers` are clients that may leave, with their brokers."""
    if not churn_hz:
        return []
    population = _Population(subscribed, leavers, interests, random)
    made: list[AnyOperation] = []
    for at_ms in _times(random, churn_hz, load_ms):
        made.extend(population.change(at_ms, int(load_ms)))
    return made


def _times(random: Random, churn_hz: float, load_ms: float) -> Iterator[int]:
    at_ms = random.expovariate(churn_hz) * 1000
    while at_ms < load_ms:
        yield int(at_ms)
        at_ms += random.expovariate(churn_hz) * 1000


class _Population:
    """Who holds which subscriptions, so that only what is there is given up."""

    def __init__(
        self, subscribed: list[Subscribe], leavers: dict[str, str], interests: Interests, random: Random
    ) -> None:
        self._holder = {one.sub: one.client for one in subscribed}
        self._size = len(subscribed)
        self._lang = subscribed[0].lang
        self._ids = count(len(subscribed) + 1)
        self._clients = list(dict.fromkeys([*self._holder.values(), *leavers]))
        self._leavers = leavers
        self._back_at_ms: dict[str, int] = {}
        self._interests = interests
        self._random = random

    def change(self, at_ms: int, end_ms: int) -> list[AnyOperation]:
        if self._random.random() < LEAVES:
            leavers = [one for one in self._leavers if self._is_here(one, at_ms)]
            if leavers:
                return self._leave(self._random.choice(leavers), at_ms, end_ms)
        cancellable = [sub for sub, client in self._holder.items() if self._is_here(client, at_ms)]
        # Towards the size it began with: more are cancelled when there are more.
        if cancellable and self._random.random() < len(self._holder) / (2 * self._size):
            sub = self._random.choice(cancellable)
            return [Unsubscribe(phase="load", at_ms=at_ms, client=self._holder.pop(sub), sub=sub)]
        here = [one for one in self._clients if self._is_here(one, at_ms)]
        return [self._subscribe(self._random.choice(here), at_ms)] if here else []

    def _leave(self, client: str, at_ms: int, end_ms: int) -> list[AnyOperation]:
        back_at_ms = max(at_ms + 1, min(at_ms + self._random.randint(*AWAY_MS), end_ms))
        held = [sub for sub, holder in self._holder.items() if holder == client]
        for sub in held:
            del self._holder[sub]
        self._back_at_ms[client] = back_at_ms
        return [
            Detach(phase="load", at_ms=at_ms, client=client),
            Attach(phase="load", at_ms=back_at_ms, client=client, broker=self._leavers[client]),
            *(self._subscribe(client, back_at_ms) for _ in held),
        ]

    def _subscribe(self, client: str, at_ms: int) -> Subscribe:
        sub = f"s{next(self._ids)}"
        self._holder[sub] = client
        wanted = self._interests.draw()
        return Subscribe(phase="load", at_ms=at_ms, client=client, sub=sub, filter=wanted, lang=self._lang)

    def _is_here(self, client: str, at_ms: int) -> bool:
        return at_ms > self._back_at_ms.get(client, -1)
