"""Clients that do whatever comes to their mind: they subscribe, cancel, leave, move, advertise and withdraw."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from random import Random

from node.core.records import Content
from node.plan import Advertise, AnyOperation, Attach, Detach, Publish, Subscribe, Unadvertise, Unsubscribe

ADVERTISED = ("*", "x >= 0", "x < 6", "x >= 3", "x exists and y exists", 'z prefix "a" or x >= 0')
WORDS = ("a", "ab", "abc", "b")
ABOUTS = ("<", "<=", ">", ">=", "=", "!=")
# Few, so that many ask for the same; many, so that hardly anybody does.
FILTERS = (2, 5, 15, 60)
LINGER_MS = (200, 2500)
WEIGHTS = {"publish": 24, "subscribe": 5, "cancel": 5, "storm": 1, "leave": 1, "move": 1, "readvertise": 2}


class Restless:
    """What all of them do, drawn from one source of chance."""

    def __init__(self, brokers: Sequence[str], random: Random, load_ms: int) -> None:
        self._random = random
        self._brokers = brokers
        self._load_ms = load_ms
        self._filters = [_filter(random) for _ in range(random.choice(FILTERS))]
        self._clients = [f"c{number}" for number in range(1, random.randint(2, 5) + 1)]
        self._publishers = self._clients[: random.randint(1, 2)]
        self._at = {client: random.choice(brokers) for client in self._clients}
        self._held: dict[str, dict[str, str]] = {client: {} for client in self._clients}
        """Client -> its subscriptions, each with its filter."""
        self._advs: dict[str, list[str]] = {client: [] for client in self._publishers}
        self._away_until_ms: dict[str, float] = {}
        self._subs, self._adv_ids = count(1), count(1)
        self._made: list[AnyOperation] = []

    def operations(self) -> list[AnyOperation]:
        self._warm()
        at_ms = 0.0
        pace_ms = self._random.choice((15, 40, 80))
        while (at_ms := at_ms + self._random.expovariate(1 / pace_ms)) < self._load_ms:
            self._do_something(round(at_ms))
        for number in range(self._random.randint(3, 6)):
            for publisher in self._publishers:
                self._publish("final", 20 * number, publisher)
        return self._made

    def _warm(self) -> None:
        for client in self._clients:
            self._made.append(Attach(phase="warm", at_ms=0, client=client, broker=self._at[client]))
        for publisher in self._publishers:
            self._advertise("warm", 5, publisher)
        for number in range(self._random.randint(1, 8)):
            self._subscribe("warm", 10 + number, self._random.choice(self._clients))
        if not any(self._held.values()):
            self._subscribe("warm", 20, self._clients[-1])

    def _do_something(self, at_ms: int) -> None:
        what = self._random.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
        client = self._random.choice(self._publishers if what in ("publish", "readvertise") else self._clients)
        if at_ms < self._away_until_ms.get(client, 0):
            return
        match what:
            case "publish":
                self._publish("load", at_ms, client)
            case "subscribe":
                self._subscribe("load", at_ms, client)
            case "cancel":
                self._cancel(at_ms, client)
            case "storm":
                for _ in range(self._random.randint(2, 5)):
                    self._subscribe("load", at_ms, client)
                    self._cancel(at_ms, client)
            case "leave" if client not in self._publishers:
                self._leave(at_ms, client)
            case "move" if client not in self._publishers and len(self._brokers) > 1:
                self._move(at_ms, client)
            case "readvertise":
                self._readvertise(at_ms, client)

    def _publish(self, phase: str, at_ms: float, client: str) -> None:
        self._made.append(Publish(phase=phase, at_ms=at_ms, client=client, content=_content(self._random)))

    def _subscribe(self, phase: str, at_ms: float, client: str, wanted: str | None = None) -> None:
        sub, wanted = f"s{next(self._subs)}", wanted or self._random.choice(self._filters)
        self._held[client][sub] = wanted
        self._made.append(Subscribe(phase=phase, at_ms=at_ms, client=client, sub=sub, filter=wanted))

    def _cancel(self, at_ms: float, client: str) -> None:
        if self._held[client]:
            sub = self._random.choice(list(self._held[client]))
            del self._held[client][sub]
            self._made.append(Unsubscribe(phase="load", at_ms=at_ms, client=client, sub=sub))

    def _advertise(self, phase: str, at_ms: float, client: str) -> None:
        adv = f"a{next(self._adv_ids)}"
        self._advs[client].append(adv)
        text = self._random.choice(ADVERTISED)
        self._made.append(Advertise(phase=phase, at_ms=at_ms, client=client, adv=adv, filter=text))

    def _readvertise(self, at_ms: int, client: str) -> None:
        """Either order: with a gap in between nothing can be published."""
        is_gap = self._random.random() < 0.3
        gone = list(self._advs[client])
        self._advs[client].clear()
        if not is_gap:
            self._advertise("load", at_ms, client)
        for adv in gone:
            self._made.append(Unadvertise(phase="load", at_ms=at_ms, client=client, adv=adv))
        if is_gap:
            self._advertise("load", min(self._load_ms - 1, at_ms + self._random.randint(0, 400)), client)

    def _leave(self, at_ms: int, client: str) -> None:
        """And back, here or elsewhere, with as many wishes."""
        back_ms = min(self._load_ms - 1, at_ms + self._random.choice((1, 5, 50, 300)))
        self._made.append(Detach(phase="load", at_ms=at_ms, client=client))
        if self._random.random() < 0.5:
            self._at[client] = self._random.choice(self._brokers)
        self._made.append(Attach(phase="load", at_ms=back_ms, client=client, broker=self._at[client]))
        self._away_until_ms[client] = back_ms + 1
        held, self._held[client] = self._held[client], {}
        for _ in held:
            self._subscribe("load", back_ms, client)

    def _move(self, at_ms: int, client: str) -> None:
        """Who moves asks for the same at the new broker: only then can it tell what the old one has yet to bring."""
        left = self._at[client]
        self._at[client] = self._random.choice([broker for broker in self._brokers if broker != left])
        self._made.append(Attach(phase="load", at_ms=at_ms, client=client, broker=self._at[client]))
        held, self._held[client] = self._held[client], {}
        for wanted in held.values():
            self._subscribe("load", at_ms, client, wanted)
        linger_ms = self._random.randint(*LINGER_MS)
        self._made.append(Detach(phase="load", at_ms=at_ms + 1, client=client, broker=left, linger_ms=linger_ms))
        self._away_until_ms[client] = at_ms + 2


def _filter(random: Random) -> str:
    draw = random.random()
    if draw < 0.1:
        return "*"
    if draw < 0.2:
        return random.choice(("y exists", 'z prefix "a"', 'z = "ab"', 'z contains "b"', "x != 4"))
    if draw < 0.3:
        return f"{_constraint(random)} or {_constraint(random)}"
    return " and ".join(_constraint(random) for _ in range(random.choice((1, 1, 2))))


def _constraint(random: Random) -> str:
    name, values = random.choice((("x", 10), ("x", 10), ("y", 4)))
    return f"{name} {random.choice(ABOUTS)} {random.randrange(values)}"


def _content(random: Random) -> Content:
    content: dict[str, str | int | float | bool] = {"x": random.randrange(10)}
    if random.random() < 0.7:
        content["y"] = random.randrange(4)
    if random.random() < 0.3:
        content["z"] = random.choice(WORDS)
    return content
