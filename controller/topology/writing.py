"""A topology as the YAML that a person would write."""

from __future__ import annotations

import json
import re

import yaml

from controller.topology.model import Broker, Link, Topology

_PLAIN = re.compile(r"[A-Za-z0-9(](?:[^:#\x00-\x1f\x7f-\x9f]*[^:#\s\x00-\x1f\x7f-\x9f])?")


def to_yaml(topology: Topology, remark: str) -> str:
    lines = [f"# {remark}", f"description: {_text(topology.description)}", "brokers:"]
    lines += [f"  {broker.name}: {_broker(broker)}" for broker in topology.brokers]
    lines += ["links:", *(f"  - {_link(link)}" for link in topology.links)] if topology.links else []
    return "\n".join(lines) + "\n"


def _text(text: str) -> str:
    """Without quotes where YAML reads it as the same text."""
    is_plain = _PLAIN.fullmatch(text) and re.search("[A-Za-z] [A-Za-z]", text)
    if is_plain:
        return text
    quoted: str = yaml.safe_dump(text, default_style='"', allow_unicode=True, width=len(text) * 10 + 10)
    return quoted.strip()


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
