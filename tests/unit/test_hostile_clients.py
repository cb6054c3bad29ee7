"""Whatever a client with the right key says, the broker keeps its head: nothing raises, its table stays in order."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from node.core.messages import (
    Advertise,
    Control,
    Deliver,
    Payload,
    Port,
    Publication,
    Publish,
    Refused,
    Settled,
    Snapshot,
    Subscribe,
    Unadvertise,
    Unsubscribe,
    client_port,
)
from node.core.schemes.base import Neighbour, Site
from node.core.schemes.registry import build, names
from node.core.session import MS, Frame, Limits
from node.core.state import BrokerState
from node.wire import WireCodec

IDS = st.sampled_from(["s1", "s2", "", "c1:1", "session"])
TEXTS = st.sampled_from(["x > 1", "x > 2", "*", "x >", "", "y exists"])
LANGS = st.sampled_from(["attr", "xpath"])
SUBSCRIBES = st.builds(Subscribe, IDS, TEXTS, LANGS)
ADVERTISES = st.builds(Advertise, IDS, TEXTS, LANGS, IDS)
BODIES = st.one_of(
    SUBSCRIBES,
    ADVERTISES,
    st.builds(Unsubscribe, IDS),
    st.builds(Unadvertise, IDS),
    st.builds(
        Snapshot,
        st.lists(SUBSCRIBES, max_size=3).map(tuple),
        st.lists(ADVERTISES, max_size=3).map(tuple),
        st.booleans(),
    ),
)
CONTENTS = st.one_of(
    st.dictionaries(
        st.sampled_from(["x", "y", "no name"]), st.one_of(st.integers(0, 3), st.just(2**63), st.text(max_size=2))
    ),
    st.text(max_size=3),
)
PUBLICATIONS = st.builds(
    Publication, IDS, st.sampled_from(["c1", "c2", ""]), st.sampled_from([1, -1, 2**63]), LANGS, CONTENTS
)
MIDS = st.integers(0, 2)
PAYLOADS = st.one_of(
    st.builds(Control, MIDS, BODIES),
    st.builds(Publish, PUBLICATIONS, st.sampled_from([None, 1, {"a": 1}])),
    st.builds(Deliver, PUBLICATIONS, st.just(("s1",))),
    st.builds(Settled, MIDS),
    st.builds(Refused, MIDS, IDS, IDS),
)
SAID = st.lists(st.tuples(st.sampled_from(["c1", "c2"]), PAYLOADS), max_size=12)


@pytest.mark.parametrize("scheme_name", names())
@settings(deadline=None)
@given(said=SAID)
def test_whatever_clients_say_the_broker_keeps_its_head(scheme_name: str, said: list[tuple[str, Payload]]) -> None:
    scheme = build(scheme_name, Site("b1", (Neighbour("b2"), Neighbour("b3")), Random(1)), {})
    codec = WireCodec(scheme.controls)
    state = BrokerState(scheme, 1, codec, 0, Limits())
    seqs: dict[Port, int] = {}

    def hear(port: Port, payloads: list[bytes]) -> None:
        frame = Frame(1, 1, 0, 256, 0, seqs.get(port, 1), payloads, [])
        seqs[port] = frame.seq + len(payloads)
        for item in state.receive(port, frame, MS):
            state.handle(item, MS)
        state.transmit(MS)

    for peer in ("b2", "b3"):
        hear(
            Port("broker", peer), [codec.encode(Control(1, Snapshot(advs=(Advertise(f"a-{peer}", "*", "attr", "p"),))))]
        )
    for client, payload in said:
        hear(client_port(client), [codec.encode(payload)])
    scheme.check()
    hear(client_port("c3"), [codec.encode(Control(1, Subscribe("s9", "z = 1", "attr")))])
    hear(client_port("c9"), [codec.encode(Publish(Publication("c9:1", "c9", 1, "attr", {"z": 1})))])
    assert state.sessions[client_port("c3")].waiting
