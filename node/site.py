"""Where a broker finds itself, from its configuration."""

from __future__ import annotations

import random

from node.config import Config
from node.core.schemes.base import Neighbour, Site
from node.errors import ConfigError


def build_site(config: Config, inc: int) -> Site:
    brokers = {broker.name: broker for broker in config.topology.brokers}
    here = brokers.get(config.node)
    if here is None:
        known = ", ".join(sorted(brokers)) or "none"
        raise ConfigError(f"the broker {config.node} is not in its topology; the brokers there are: {known}")
    tree = config.topology.tree
    neighbours = tuple(
        Neighbour(
            name,
            link.weight,
            brokers[name].group,
            (min(name, config.node), max(name, config.node)) in tree,
        )
        for name, link in config.neighbours()
    )
    chance = random.Random(f"{config.cluster}/{config.node}/{inc}")
    return Site(config.node, neighbours, chance, here.role, here.group, tuple(sorted(brokers)), tree)
