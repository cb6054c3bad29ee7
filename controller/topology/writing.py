"""A topology as the YAML that a person would write."""

from __future__ import annotations

import json

from controller.topology.model import Broker, Link, Topology


def to_yaml(topology: Topology, remark: str) -> str:
    lines = [f"# {remark}", f"description: {topology.description}", "brokers:"]
    lines += [f"  {broker.name}: {_broker(broker)}" for broker in topology.brokers]
    lines += ["links:", *(f"  - {_link(link)}" for link in topology.links)] if topology.links else []
    return "\n".join(lines) + "\n"


def _broker(broker: Broker) -> str:
    group = f", group: {broker.group}" if broker.group != broker.name else ""
    return f"{{role: {broker.role}{group}}}"


def _link(link: Link) -> str:
    usual = Link(link.a, link.b)
    said = [
        f"{key}: {json.dumps(getattr(link, key))}"
        for key in Link.__struct_fields__
        if key not in ("a", "b") and getattr(link, key) != getattr(usual, key)
    ]
    return f"{{a: {link.a}, b: {link.b}, {', '.join(said)}}}" if said else f"{link.a}-{link.b}"
