"""What is left of a peer's or a broker's former incarnations must not be taken for something of its successor's."""

from __future__ import annotations

from random import Random

import pytest

from node.core.client import ClientState, Delivery, RefusedByBroker
from node.core.items import Item
from node.core.messages import Control, Payload, Port, Settled, Subscribe, broker_port, client_port
from node.core.schemes.base import Neighbour, Site
from node.core.schemes.registry import build
from node.core.session import MS, Frame, Limits
from node.core.state import BrokerState
from node.wire import WireCodec

CODEC = WireCodec()
NEAR, FAR = broker_port("near"), broker_port("far")


def broker(*neighbours: str, limits: Limits | None = None, client_silence_ns: int = 10**12) -> BrokerState:
    scheme = build("simple", Site("b1", tuple(map(Neighbour, neighbours)), Random(1)), {})
    return BrokerState(scheme, 1, CODEC, 0, limits or Limits(), client_silence_ns)


def frame(inc: int, seq: int = 1, *payloads: Payload) -> Frame[bytes]:
    return Frame(inc, 1, 0, 100, 0, seq, [CODEC.encode(payload) for payload in payloads], [])


def handle(state: BrokerState, items: list[Item]) -> list[str]:
    """The kinds of what is sent to `near` because of them."""
    return [sent.kind for item in items for sent in state.handle(item, 0).sent if sent.to == NEAR.name]


def test_a_broker_that_died_before_it_was_welcomed_leaves_no_debt_to_its_successor() -> None:
    state = broker("near", "far")
    handle(state, state.receive(FAR, frame(1), 0))
    handle(state, state.receive(NEAR, frame(1, 1, Control(1, Subscribe("s1", "x > 1", "attr"))), 0))
    under_way = [CODEC.decode(data) for _, sent in state.transmit(0) for data in sent.payloads]
    # The second incarnation of `near` uses the same number, and is gone before the queue has come to it.
    late = state.receive(NEAR, frame(2, 1, Control(1, Subscribe("s2", "x > 2", "attr"))), 0)
    late += state.receive(NEAR, frame(3), 0)
    handle(state, late)
    under_way += [CODEC.decode(data) for _, sent in state.transmit(0) for data in sent.payloads]
    mids = [payload.mid for payload in under_way if isinstance(payload, Control)]
    answers = state.receive(FAR, frame(1, 1, *(Settled(mid) for mid in mids)), 0)
    assert "settled" not in handle(state, answers)


def converse(state: BrokerState, client: ClientState, port: Port, now: int) -> list[Delivery]:
    deliveries = []
    for _ in range(4):
        for _, sent in client.transmit(now):
            handle(state, state.receive(port, sent, now))
        for to, sent in state.transmit(now):
            if to == port:
                deliveries += [e for e in client.receive("b1", sent, now) if isinstance(e, Delivery)]
    return deliveries


def test_what_a_dead_broker_delivered_gives_no_credit_to_its_successor() -> None:
    limits = Limits(credit=4)
    client = ClientState("c1", 1, CODEC, limits)
    client.attach("b1", 0)
    client.subscribe("s1", "*")
    state, port = broker(limits=limits), client_port("c1")
    converse(state, client, port, 0)
    for _ in range(3):
        client.publish({"x": 1})
    assert len(converse(state, client, port, 1)) == 3
    scheme = build("simple", Site("b1", (), Random(1)), {})
    successor = BrokerState(scheme, 2, CODEC, 2, limits)
    converse(successor, client, port, 2 + limits.heartbeat_ns)
    for _ in range(3):
        client.consumed("b1")
    granted = [sent.credit for _, sent in client.transmit(10 * limits.heartbeat_ns)]
    assert granted == [limits.credit]
    with pytest.raises(IndexError):
        client.consumed("b1")


def test_a_client_that_has_left_is_not_bothered_when_its_former_broker_forgets_it() -> None:
    client = ClientState("c1", 1, CODEC, Limits())
    client.attach("b1", 0)
    client.subscribe("s1", "*")
    state, port = broker(client_silence_ns=1_000 * MS), client_port("c1")
    converse(state, client, port, 0)
    client.detach()
    converse(state, client, port, 1)
    now = 3_000 * MS
    handle(state, state.tick(now))
    events = [event for _, sent in state.transmit(now) for event in client.receive("b1", sent, now)]
    assert not [event for event in events if isinstance(event, RefusedByBroker)]
