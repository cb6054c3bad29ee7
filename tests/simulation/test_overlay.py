"""Schemes on brokers: several producers and consumers anywhere, deliveries interleaved at will, against brute force."""

from __future__ import annotations

from random import Random

import pytest

from controller.papers.overlay import Overlay
from node.core.messages import Body, Unadvertise, broker_port
from node.core.schemes.xroute.interface import Row
from node.core.schemes.xroute.scheme import ProducerTrees
from node.core.schemes.xroute.triples import Rows, Update
from tests.simulation.test_xroute_tables import WORLDS, world

RUNS = 60
NODES_MAX = 12
OPERATIONS = 60
TEXTS = tuple(name for name in WORLDS if name != "bits")


class Run:
    def __init__(self, scheme: str, language: str, seed: int) -> None:
        self.random = Random(f"{language}/{seed}")
        self.lang = language
        filters, self.contents = world(language)
        self.texts = [str(filter) for filter in filters]
        names = [f"b{n}" for n in range(self.random.randint(2, NODES_MAX))]
        links = [(name, names[self.random.randrange(n)], 1) for n, name in enumerate(names[1:], 1)]
        self.net = Overlay(scheme, names, links)
        self.witnesses: dict[tuple[str, str], list[dict]] = {edge: [] for edge in self.net.links}  # type: ignore[type-arg]
        self.net.sending, self.net.heard = self._sending, self._heard
        self.clients = [f"c{n}" for n in range(6)]
        for client in self.clients:
            self.net.attach(client, self.random.choice(names))
        self.advs: dict[str, tuple[str, int]] = {}
        self.subs: dict[str, int] = {}
        self.owed: list[tuple[str, str]] = []
        self.ids = 0

    def _told(self, source: str, target: str) -> dict:  # type: ignore[type-arg]
        scheme = self.net.schemes[source]
        assert isinstance(scheme, ProducerTrees)
        table = scheme.upstream.get(broker_port(target))
        return {} if table is None else table.told()

    def _sending(self, source: str, target: str, body: Body) -> None:
        if isinstance(body, Update | Rows):
            self.witnesses[source, target].append(self._told(source, target))

    def _heard(self, source: str, target: str, body: Body) -> None:
        for scheme in self.net.schemes.values():
            scheme.check()
        if isinstance(body, Update | Rows):
            scheme = self.net.schemes[target]
            assert isinstance(scheme, ProducerTrees)
            told: dict[object, Row] = self.witnesses[source, target].pop(0)
            assert scheme.interfaces[broker_port(source)].rows == told

    def fresh(self, prefix: str) -> str:
        self.ids += 1
        return f"{prefix}{self.ids}"

    def play(self) -> None:
        kinds = (self._subscribe, self._subscribe, self._unsubscribe, self._publish, self._advertise, self._unadvertise)
        for _ in range(OPERATIONS):
            if self.random.random() < 0.5:
                self.random.choice(kinds)()
            else:
                for _ in range(self.random.randint(1, 8)):
                    self.net.step(self.random)

    def _subscribe(self) -> None:
        sub = self.fresh("s")
        client, text = self.random.choice(self.clients), self.random.choice(self.texts)
        self.subs[sub] = self.net.subscribe(client, sub, text, self.lang)  # type: ignore[arg-type]

    def _unsubscribe(self) -> None:
        if self.subs:
            sub = self.random.choice(list(self.subs))
            del self.subs[sub]
            self.net.unsubscribe(sub)
            self.owed = [owed for owed in self.owed if owed[1] != sub]

    def _advertise(self) -> None:
        client, adv = self.random.choice(self.clients), self.fresh("a")
        everything = "*" if self.lang == "attr" else "//*"
        self.advs[adv] = (client, self.net.advertise(client, adv, everything, self.lang))  # type: ignore[arg-type]

    def _unadvertise(self) -> None:
        if self.advs:
            adv = self.random.choice(list(self.advs))
            client, _ = self.advs.pop(adv)
            self.net.tell(client, Unadvertise(adv))

    def _publishers(self) -> list[str]:
        return sorted({client for client, request in self.advs.values() if self.net.is_settled(request)})

    def _publish(self) -> None:
        if publishers := self._publishers():
            msg, content = self.fresh("m"), self.random.choice(self.contents)
            self.net.publish(self.random.choice(publishers), msg, content, self.lang)  # type: ignore[arg-type]
            for sub, request in self.subs.items():
                if self.net.is_settled(request) and self.net.wanted[sub][1].matches(content):
                    self.owed.append((msg, sub))

    def check_nothing_established_was_missed(self) -> None:
        self.net.drain()
        for msg, sub in self.owed:
            assert self.net.wanted[sub][0] in self.net.delivered[msg], f"{sub} missed {msg}"

    def check_perfect_and_optimal(self) -> None:
        self.net.drain()
        for content in self.random.sample(list(self.contents), 4):
            for client in self._publishers():
                self._check(client, content)

    def _check(self, publisher: str, content: object) -> None:
        net, msg = self.net, self.fresh("m")
        net.publish(publisher, msg, content, self.lang)  # type: ignore[arg-type]
        net.drain()
        interested = {client for client, filter in net.wanted.values() if filter.matches(content)}  # type: ignore[arg-type]
        assert sorted(net.delivered[msg]) == sorted(interested)
        here = net.home[publisher]
        ideal: set[tuple[str, str]] = set()
        for client in interested:
            at = here
            while at != net.home[client]:
                onwards = net.schemes[at].site.routes[net.home[client]]
                ideal.add((at, onwards))
                at = onwards
        assert net.crossed[msg] == ideal, f"{here} published {content}"


@pytest.mark.parametrize("language", TEXTS)
@pytest.mark.parametrize("scheme", ["xroute", "xroute-canonical"])
def test_perfect_and_optimal_with_several_producers(scheme: str, language: str) -> None:
    for seed in range(RUNS):
        run = Run(scheme, language, seed)
        run.play()
        run.check_nothing_established_was_missed()
        run.check_perfect_and_optimal()


@pytest.mark.parametrize("language", TEXTS)
@pytest.mark.parametrize("scheme", ["match-first", "simple", "simple-directed", "covering-active"])
def test_the_baselines_are_perfect_and_optimal_too(scheme: str, language: str) -> None:
    # What is established while messages are under way is in tests/simulation/test_schemes.py: it takes settling.
    for seed in range(RUNS // 2):
        run = Run(scheme, language, seed)
        run.play()
        run.check_perfect_and_optimal()
