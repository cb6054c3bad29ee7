"""A client that falls silent must not hold up the network, nor be lost if it comes back."""

from __future__ import annotations

from random import Random

import pytest

from node.core.client import ClientState, Delivery, Event
from node.core.messages import Subscribe, broker_port, client_port
from node.core.schemes.base import Site
from node.core.schemes.registry import build
from node.core.session import MS, Limits
from node.core.state import BrokerState
from node.wire import WireCodec

SILENCE = 1_000 * MS


class Pair:
    """One broker and its clients, on a wire that carries everything at once to those who listen."""

    def __init__(self, *clients: str) -> None:
        scheme = build("simple", Site("b1", (), Random(1)), {})
        self.now = 0
        self.state = BrokerState(scheme, 1, WireCodec(scheme.controls), 0, Limits(), SILENCE)
        self.clients = {name: ClientState(name, 1, WireCodec(), Limits()) for name in clients}
        self.listening = set(clients)
        self.events: dict[str, list[Event]] = {name: [] for name in clients}
        for client in self.clients.values():
            client.attach("b1", 0)

    def run(self, span: int) -> int:
        """Let time pass; returns how many frames the broker sent."""
        sent = 0
        for _ in range(span // (10 * MS)):
            self.now += 10 * MS
            for name in sorted(self.listening):
                for _, frame in self.clients[name].transmit(self.now):
                    self._handle(self.state.receive(client_port(name), frame, self.now))
            self._handle(self.state.tick(self.now))
            for port, frame in self.state.transmit(self.now):
                assert port != broker_port("b1")
                sent += 1
                if port.name in self.listening:
                    client = self.clients[port.name]
                    self.events[port.name] += client.receive("b1", frame, self.now)
        return sent

    def _handle(self, items: list) -> None:  # type: ignore[type-arg]
        for item in items:
            self.state.handle(item, self.now)


def messages(events: list[Event]) -> list[str]:
    return [event.publication.msg for event in events if isinstance(event, Delivery)]


def test_a_client_that_is_gone_is_not_waited_for_and_may_come_back() -> None:
    pair = Pair("reader", "writer")
    pair.clients["reader"].subscribe("s1", "x > 0")
    pair.run(100 * MS)
    pair.listening.discard("reader")
    pair.clients["writer"].publish({"x": 1})
    pair.run(100 * MS)
    assert pair.state.unacked == 1

    pair.run(SILENCE + 500 * MS)
    assert pair.state.unacked == 0
    assert pair.state.scheme.size() == 0
    pair.listening.discard("writer")
    pair.run(SILENCE + 500 * MS)
    assert pair.run(5_000 * MS) == 0, "nothing is sent to clients that are gone"

    pair.listening |= {"reader", "writer"}
    pair.run(3_000 * MS)
    assert pair.state.unacked == 0
    pair.clients["writer"].publish({"x": 2})
    pair.run(100 * MS)
    assert messages(pair.events["reader"]) == ["writer:1", "writer:2"]
    assert isinstance(pair.clients["reader"].held["s1"].body, Subscribe)


def test_a_client_that_comes_while_its_broker_leaves_is_told_and_does_not_hold_up_the_end() -> None:
    pair = Pair("reader", "late")
    pair.listening = {"reader"}
    pair.clients["reader"].subscribe("s1", "x > 0")
    pair.run(100 * MS)
    pair.state.leave()
    pair.listening.add("late")
    pair.clients["late"].subscribe("s2", "x > 0")
    pair.run(500 * MS)
    assert pair.state.has_left(pair.now)
    assert [word.client for word in pair.state.words] == ["reader"], "what came too late was not taken"


def test_a_successor_knows_what_its_clients_wanted_until_they_stay_away() -> None:
    before = Pair("reader", "writer")
    before.clients["reader"].subscribe("s1", "x > 0")
    before.clients["writer"].advertise("a1", "x > 0")
    before.run(100 * MS)
    words = before.state.words
    assert [(word.client, len(word.subs), len(word.advs)) for word in words] == [("reader", 1, 0), ("writer", 0, 1)]

    pair = Pair("writer")
    pair.state.expect(words, 0, 300 * MS)
    assert pair.state.scheme.size() == 1
    pair.clients["writer"].publish({"x": 1})
    pair.run(200 * MS)
    assert pair.state.scheme.size() == 1, "the reader may still come"
    pair.run(200 * MS)
    assert pair.state.scheme.size() == 0 and pair.state.words == []


def test_who_moves_has_all_confirmed_where_it_was_before_it_comes_to_another_broker() -> None:
    pair = Pair("mover")
    mover = pair.clients["mover"]
    pair.run(100 * MS)
    mover.subscribe("s1", "x > 0")
    with pytest.raises(ValueError, match="has asked b1 for something that is not confirmed yet"):
        mover.attach("b2", pair.now)
    pair.run(100 * MS)
    mover.attach("b2", pair.now)
    assert mover.brokers == ("b1", "b2")
