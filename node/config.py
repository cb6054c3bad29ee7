"""A node's configuration: one JSON file, checked as a whole before anything is started."""

from __future__ import annotations

import re
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, field

from node.core.overlay import spanning_tree
from node.errors import ConfigError
from node.journal import Level
from node.shaping import Shape

NODE_NAME = re.compile(r"[^\s./:]{1,100}")


class BrokerEntry(Struct, frozen=True):
    name: str
    role: str = "inner"
    group: str | None = None


class LinkEntry(Struct, frozen=True):
    a: str
    b: str
    delay_ms: float = 0
    weight: float = 1
    jitter_ms: float = 0
    loss: float = 0
    rate_kbps: float | None = None

    @property
    def shape(self) -> Shape:
        return Shape(delay_ms=self.delay_ms, jitter_ms=self.jitter_ms, loss=self.loss, rate_kbps=self.rate_kbps)

    @property
    def is_possible(self) -> bool:
        return (
            min(self.delay_ms, self.jitter_ms) >= 0
            and 0 <= self.loss < 1
            and (self.rate_kbps is None or self.rate_kbps > 0)
        )


class Topology(Struct, frozen=True, dict=True):
    """As in topology.json; keys that a node does not need are passed over."""

    brokers: tuple[BrokerEntry, ...] = ()
    links: tuple[LinkEntry, ...] = ()

    @cached_property
    def tree(self) -> frozenset[tuple[str, str]]:
        """Kept, as the brokers of a simulated overlay share what they know of it."""
        links = [(link.a, link.b, link.weight) for link in self.links]
        return spanning_tree([broker.name for broker in self.brokers], links)


class Endpoints(Struct, frozen=True):
    """Where a node listens, seen from the others or (`bind`) from itself."""

    peers: str | None = None
    clients: str | None = None
    admin: str | None = None
    gateway: str | None = None


class Config(Struct, frozen=True):
    node: str
    cluster: str
    logs: str
    keys: str
    scheme: str = ""
    parameters: dict[str, Any] = field(default_factory=dict)
    topology: Topology = field(default_factory=Topology)
    endpoints: dict[str, Endpoints] = field(default_factory=dict)
    bind: Endpoints = field(default_factory=Endpoints)
    plan: str | None = None
    log: Level = "all"
    clients_wait_s: float | None = None
    """All clients come back within this, however silent they are; None: they may be strangers, who need not."""

    def neighbours(self) -> list[tuple[str, LinkEntry]]:
        """The brokers linked to this one, in order of name, each with its link."""
        found = [(link.b if link.a == self.node else link.a, link) for link in self.topology.links]
        return sorted((name, link) for name, link in found if self.node in (link.a, link.b))

    def bound(self, door: str) -> str:
        """The endpoint to bind for that door."""
        endpoint: str | None = getattr(self.bind, door)
        if endpoint is None:
            raise ConfigError(f"bind.{door} is missing in the configuration of {self.node}")
        return endpoint

    def reach(self, node: str, door: str) -> str:
        """The endpoint under which another node's door is found."""
        endpoint: str | None = getattr(self.endpoints.get(node), door, None)
        if endpoint is None:
            raise ConfigError(f"endpoints.{node}.{door} is missing in the configuration of {self.node}")
        return endpoint


def read_config(path: str) -> Config:
    try:
        config = msgspec.json.decode(Path(path).read_bytes(), type=Config)
    except OSError as error:
        raise ConfigError(f"the configuration {path} cannot be read: {error.strerror}") from None
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ConfigError(f"the configuration {path} is not valid: {error}") from None
    _check(config, path)
    return config


def _check(config: Config, path: str) -> None:
    brokers = [broker.name for broker in config.topology.brokers]
    for name in (config.node, *brokers):
        if not NODE_NAME.fullmatch(name):
            raise ConfigError(f"{path}: {name!r} is no name for a node; spaces, `.`, `/` and `:` are not allowed")
    if len(set(brokers)) != len(brokers):
        raise ConfigError(f"{path}: a broker is named twice in the topology")
    for link in config.topology.links:
        for end in (link.a, link.b):
            if end not in brokers:
                raise ConfigError(f"{path}: the link {link.a}-{link.b} ends at {end}, which is no broker")
        if link.a == link.b or not link.is_possible:
            told = "a delay and a jitter ≥ 0, a loss from 0 to less than 1 and a rate > 0"
            raise ConfigError(f"{path}: the link {link.a}-{link.b} is not a link between two brokers with {told}")
    if not Path(config.logs).is_dir():
        raise ConfigError(f"{path}: the directory for logs, {config.logs}, does not exist")
