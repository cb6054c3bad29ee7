"""The workload `xpath`: agencies that publish news in XML, and readers who subscribe to tree patterns."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Annotated, Literal

from msgspec import Meta

from controller.workloads.base import Kind
from controller.workloads.load import Load, World
from controller.workloads.news import documents, dtd, patterns
from controller.workloads.news.patterns import Height, Probability, Settings, Skew


class XPath(Load, frozen=True, kw_only=True, forbid_unknown_fields=True):
    kind: Literal["xpath"] = "xpath"
    h: Annotated[Height, Meta(description="The greatest height of a pattern.")] = 10
    h_min: Annotated[Height, Meta(description="The least; the higher it is, the fewer patterns are covered.")] = 3
    p_star: Annotated[Probability, Meta(description="How likely a step is `*`.")] = 0.1
    p_descendant: Annotated[Probability, Meta(description="How likely a step is `//`.")] = 0.1
    p_lambda: Annotated[Probability, Meta(description="How likely a step branches.")] = 0.1
    theta: Annotated[Skew, Meta(description="Zipf's exponent of which element follows, in patterns and news.")] = 1
    p_attribute: Annotated[Probability, Meta(description="How likely a step asks for an attribute, too.")] = 0.05
    elements: Annotated[int, Meta(ge=5, le=10_000, description="Elements in a document, on average.")] = 60

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


class XPathKind(Kind):
    name = "xpath"
    summary = "tree patterns over news in XML, after a DTD of 123 elements"
    Parameters = XPath

    def world(self, parameters: XPath, random: Random) -> World:
        def publisher(_number: int, client: str, random: Random) -> Agency:
            return Agency(client, parameters.elements, parameters.theta, random)

        def interests(random: Random) -> Readers:
            return Readers(patterns.generate(dtd.news(), parameters.settings, random))

        return World("xpath", publisher, interests)
