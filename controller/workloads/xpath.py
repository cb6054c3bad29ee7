"""The workload `xpath`: agencies that publish news in XML, and readers who subscribe to tree patterns."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Annotated, Literal

from msgspec import Meta

from controller.topology import Topology
from controller.workloads import load
from controller.workloads.load import Load, World
from controller.workloads.news import documents, dtd, patterns
from controller.workloads.news.patterns import Height, Probability, Settings, Skew
from controller.workloads.plans import Plan


class XPath(Load, frozen=True, kw_only=True, forbid_unknown_fields=True):
    kind: Literal["xpath"] = "xpath"
    h: Height = 10
    h_min: Height = 3
    p_star: Probability = 0.1
    p_descendant: Probability = 0.1
    p_lambda: Probability = 0.1
    theta: Skew = 1
    p_attribute: Probability = 0.05
    elements: Annotated[int, Meta(ge=5, le=10_000)] = 60
    """In a document, on average."""

    @property
    def settings(self) -> Settings:
        return Settings(**{key: getattr(self, key) for key in Settings.__struct_fields__})


class Agency:
    """Every agency publishes news of all kinds, and says just that it publishes news."""

    def __init__(self, client: str, elements: int, theta: float, random: Random) -> None:
        self.client = client
        self.advertised: tuple[str, ...] = (f"/{dtd.news().root}",)
        self._writer = documents.Writer(dtd.news(), elements, theta, random)

    def content(self) -> str:
        return self._writer.document()


class Readers:
    def __init__(self, drawn: Iterator[str]) -> None:
        self._drawn = drawn

    def draw(self) -> str:
        return next(self._drawn)


def plan(workload: XPath, topology: Topology, seed: int, needs_advertisements: bool) -> Plan:
    world = World(
        kind="xpath",
        lang="xpath",
        publisher=lambda client, random: Agency(client, workload.elements, workload.theta, random),
        interests=lambda random: Readers(patterns.generate(dtd.news(), workload.settings, random)),
    )
    return load.plan(workload, world, topology, seed, needs_advertisements)
