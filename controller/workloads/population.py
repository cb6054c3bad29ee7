"""Who is where and holds what, so that only what is there is given up, and only who is there moves."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Generic, Protocol, TypeVar

from controller.workloads.plans import AnyOperation, Attach, Detach, Lang, Subscribe, Unsubscribe

T = TypeVar("T")


class Interests(Protocol):
    def draw(self) -> str:
        """The next subscriber's filter text."""
        ...


class Pool(Generic[T]):
    """A set from which one can be chosen at once, however large it is."""

    def __init__(self) -> None:
        self._items: list[T] = []
        self._place: dict[T, int] = {}

    def __len__(self) -> int:
        return len(self._items)

    def __contains__(self, item: T) -> bool:
        return item in self._place

    def __iter__(self) -> Iterator[T]:
        return iter(self._items)

    def add(self, item: T) -> None:
        self._place[item] = len(self._items)
        self._items.append(item)

    def remove(self, item: T) -> None:
        place, last = self._place.pop(item), self._items.pop()
        if last != item:
            self._items[place], self._place[last] = last, place

    def choice(self, random: Random) -> T:
        return self._items[random.randrange(len(self._items))]


class Population:
    """Residents are there from the beginning; a visitor comes once, stays and goes, and is left alone meanwhile."""

    def __init__(self, broker_of: dict[str, str], publishers: set[str], lang: Lang, interests: Interests) -> None:
        self.made: list[AnyOperation] = []
        self.broker_of = dict(broker_of)
        self.here: Pool[str] = Pool()
        self.held: Pool[str] = Pool()
        """Subscriptions of residents."""
        self.texts: dict[str, str] = {}
        self._publishers = publishers
        self._of: dict[str, dict[str, None]] = {}
        self._holder: dict[str, str] = {}
        self._lang = lang
        self._interests = interests
        self._clients = len(broker_of)
        self._subs = 0
        for client in broker_of:
            self._come(client)

    @property
    def mobile(self) -> list[str]:
        """Residents who publish nothing: whoever publishes would overtake itself if it left or moved."""
        return [client for client in self.broker_of if client in self._of and client not in self._publishers]

    def settle(self, subscribed: list[Subscribe]) -> None:
        """What is held before anything changes."""
        for one in subscribed:
            self._hold(one.client, one.sub, one.filter)

    def may_leave(self, client: str) -> bool:
        return client in self.here and client not in self._publishers

    def subscribe(self, client: str, at_ms: int, text: str | None = None) -> str:
        """The new subscription's id."""
        sub = self._next_sub()
        wanted = self._interests.draw() if text is None else text
        self._hold(client, sub, wanted)
        self.made.append(self._asking(client, sub, wanted, at_ms))
        return sub

    def cancel(self, sub: str, at_ms: int) -> None:
        client = self._holder[sub]
        self._drop(sub)
        self.made.append(Unsubscribe(phase="load", at_ms=at_ms, client=client, sub=sub))

    def leave(self, client: str, at_ms: int) -> int:
        """Returns how many subscriptions end with it."""
        held = list(self._of.pop(client))
        for sub in held:
            self._forget(sub)
        self.here.remove(client)
        self.made.append(Detach(phase="load", at_ms=at_ms, client=client))
        return len(held)

    def come_back(self, client: str, subscriptions: int, at_ms: int) -> None:
        self._come(client)
        self.made.append(Attach(phase="load", at_ms=at_ms, client=client, broker=self.broker_of[client]))
        for _ in range(subscriptions):
            self.subscribe(client, at_ms)

    def move(self, client: str, broker: str, at_ms: int, linger_ms: float) -> None:
        """It wants the same there, under new ids, before it leaves the old broker."""
        old, self.broker_of[client] = self.broker_of[client], broker
        self.made.append(Attach(phase="load", at_ms=at_ms, client=client, broker=broker))
        for sub in list(self._of[client]):
            text = self.texts[sub]
            self._drop(sub)
            self.subscribe(client, at_ms, text)
        self.made.append(Detach(phase="load", at_ms=at_ms, client=client, broker=old, linger_ms=linger_ms))

    def visit(self, broker: str, texts: list[str], at_ms: int) -> str:
        """A client that nobody has seen before; its id."""
        self._clients += 1
        client = f"c{self._clients}"
        self.made.append(Attach(phase="load", at_ms=at_ms, client=client, broker=broker))
        self.made.extend(self._asking(client, self._next_sub(), text, at_ms) for text in texts)
        return client

    def go(self, visitor: str, at_ms: int) -> None:
        self.made.append(Detach(phase="load", at_ms=at_ms, client=visitor))

    def _come(self, client: str) -> None:
        self._of[client] = {}
        self.here.add(client)

    def _hold(self, client: str, sub: str, text: str) -> None:
        self._subs = max(self._subs, int(sub[1:]))
        self._of[client][sub] = None
        self._holder[sub] = client
        self.texts[sub] = text
        self.held.add(sub)

    def _drop(self, sub: str) -> None:
        del self._of[self._holder[sub]][sub]
        self._forget(sub)

    def _forget(self, sub: str) -> None:
        del self._holder[sub], self.texts[sub]
        self.held.remove(sub)

    def _next_sub(self) -> str:
        self._subs += 1
        return f"s{self._subs}"

    def _asking(self, client: str, sub: str, text: str, at_ms: int) -> Subscribe:
        return Subscribe(phase="load", at_ms=at_ms, client=client, sub=sub, filter=text, lang=self._lang)
