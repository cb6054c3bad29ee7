"""Programs on the host reach every broker through the one gateway, each with the rights of its key."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from node.admin import AdminChannel
from node.client import Client
from node.core.filters import FilterError
from node.errors import ConfigError
from node.security import ClientKeys
from tests.integration.lab import Lab, until


@pytest.fixture(scope="module", params=["simple", "covering-active"])
def lab(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with Lab(tmp_path_factory.mktemp("lab"), scheme=request.param) as made:
        made.start(*made.brokers, "gateway")
        made.wait_ready(*made.brokers)
        yield made


def test_a_program_subscribes_and_publishes(lab: Lab, tmp_path: Path) -> None:
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps(lab.cluster))
    with Client.from_cluster(path, "b1", name="seller") as seller, Client.from_cluster(lab.cluster, "b3") as buyer:
        sub = buyer.subscribe("price > 10")
        first = seller.publish({"price": 11})
        seller.publish({"price": 9})
        last = seller.publish({"price": 12})
        messages = [buyer.receive(5), buyer.receive(5)]
        assert [message and message.msg for message in messages] == [first, last] == ["seller:1", "seller:3"]
        assert messages[0] is not None
        assert messages[0].content == {"price": 11} and messages[0].subs == (sub,)
        for message in buyer_after(buyer, seller):
            assert message.content == {"price": 99}
            break
        buyer.unsubscribe(sub)
        seller.publish({"price": 13})
        assert buyer.receive(0.2) is None
    until(lambda: lab.must("b3", "status")["table"] == 0, "nothing is left of the subscription")


def buyer_after(buyer: Client, seller: Client) -> Client:
    seller.publish({"price": 99})
    return buyer


def test_a_publisher_gets_its_own_message_and_advertised_filters_bind(lab: Lab) -> None:
    with Client.from_cluster(lab.cluster, "b2") as client:
        client.advertise('kind = "a"')
        client.subscribe("kind exists")
        client.publish({"kind": "a"})
        message = client.receive(5)
        assert message is not None and message.publisher == client.name
        with pytest.raises(ValueError, match="advertise before you publish"):
            client.publish({"kind": "b"})


def test_a_filter_that_does_not_parse_is_told_at_once(lab: Lab) -> None:
    with Client.from_cluster(lab.cluster, "b1") as client, pytest.raises(FilterError, match="character"):
        client.subscribe("price >")


def test_a_broker_that_is_not_there_is_told(lab: Lab) -> None:
    with pytest.raises(ConfigError, match="known are b1, b2, b3"):
        Client.from_cluster(lab.cluster, "b9")
    client = Client(lab.gateway, "b9", lab.client_keys)
    with pytest.raises(TimeoutError, match=r"b9 has not confirmed the subscription `x > 1` within 0.3 s"):
        client.subscribe("x > 1", timeout_s=0.3)
    client.close()


def test_the_controller_asks_all_nodes_at_once(lab: Lab) -> None:
    with AdminChannel(lab.gateway, lab.client_keys) as channel:
        answers = channel.request_all([*lab.brokers, "b9", "driver1"], "status", 4)
        assert [name for name, answer in answers.items() if answer and answer["ok"]] == lab.brokers
        assert answers["b2"] is not None and answers["b2"]["node"] == "b2"
        assert answers["b9"] is not None and "known are b1, b2, b3, driver1" in answers["b9"]["error"]
        assert answers["driver1"] is not None and "cannot be reached" in answers["driver1"]["error"]
        assert channel.request("b1", "shape", 5, peer="b2", shape={"delay_ms": 1})["shape"]["delay_ms"] == 1
        assert channel.request("b1", "shape", 5, peer="b2", shape={})["shape"]["delay_ms"] == 0
        with pytest.raises(TimeoutError, match="did not answer"):
            channel.request("driver1", "status", 0.2)


def test_the_clients_key_does_not_open_the_admin_channel(lab: Lab) -> None:
    known = lab.client_keys
    pretender = ClientKeys(server=known.server, client=known.client, admin=known.client)
    with AdminChannel(lab.gateway, pretender) as channel:
        answer = channel.request("b1", "status", 5)
        assert answer["ok"] is False and "does not open the admin channel" in answer["error"]
    with pytest.raises(ConfigError, match="no admin pair"):
        AdminChannel(lab.gateway, ClientKeys(server=known.server, client=known.client))


def test_a_client_survives_the_restart_of_its_broker(lab: Lab) -> None:
    with Client.from_cluster(lab.cluster, "b3") as reader, Client.from_cluster(lab.cluster, "b1") as writer:
        reader.subscribe("x > 0")
        lab.kill("b3")
        lab.start("b3")

        def arrives() -> bool:
            writer.publish({"x": 1})
            return reader.receive(0.2) is not None

        until(arrives, "publications arrive again")
    lab.wait_ready(*lab.brokers)
