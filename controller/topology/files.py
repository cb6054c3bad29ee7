"""Topology files: YAML as a person writes it, checked and resolved into the model."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

import controller
from controller import yamlfile
from controller.errors import UsageError
from controller.topology import naming
from controller.topology.model import Broker, Link, Topology
from controller.yamlfile import Document, known

DIRECTORY = Path(controller.__file__).resolve().parent.parent / "topologies"

DelayMs = Annotated[int, Meta(ge=0, le=3_600_000)] | Annotated[float, Meta(ge=0, le=3_600_000)]
Loss = Annotated[int, Meta(ge=0, lt=1)] | Annotated[float, Meta(ge=0, lt=1)]
Rate = Annotated[int, Meta(gt=0, le=1_000_000_000)] | Annotated[float, Meta(gt=0, le=1_000_000_000)]
Weight = Annotated[int, Meta(gt=0, le=1_000_000)] | Annotated[float, Meta(gt=0, le=1_000_000)]


class RawBroker(Struct, forbid_unknown_fields=True):
    role: str | None = None
    group: str | None = None


class RawLink(Struct, forbid_unknown_fields=True):
    a: str
    b: str
    delay_ms: DelayMs = 0
    weight: Weight = 1
    jitter_ms: DelayMs = 0
    """Up to so much more, drawn anew for each frame."""
    loss: Loss = 0
    """The share of frames that never arrive; what they carried is sent again."""
    rate_kbps: Rate | None = None
    """Thousands of bits per second; as fast as can be if left out."""


class RawTopology(Struct, forbid_unknown_fields=True):
    description: str
    brokers: list[str] | dict[str, RawBroker | None]
    links: list[str | RawLink] = []


def names() -> list[str]:
    return sorted(path.stem for path in DIRECTORY.glob("*.yaml"))


def load(name_or_path: str | Path) -> Topology:
    """A name in `topologies/`, or a path (anything with a `/` or ending in `.yaml`)."""
    text = str(name_or_path)
    if "/" in text or text.endswith((".yaml", ".yml")):
        path = Path(text)
    elif text in names():
        path = DIRECTORY / f"{text}.yaml"
    else:
        raise UsageError(f"no topology `{text}`; {known(text, names())}; or give a path to a .yaml file")
    return resolve(yamlfile.read(path), path.stem)


def resolve(document: Document, name: str) -> Topology:
    raw = document.convert(RawTopology)
    links = _links(document, raw)
    topology = Topology(name, _description(document, raw), _brokers(document, raw, links), links)
    _check_connected(document, topology)
    return topology


def _description(document: Document, raw: RawTopology) -> str:
    if not raw.description.strip() or "\n" in raw.description.strip():
        raise document.problem(["description"], "the description should be one line of text")
    return raw.description.strip()


def _raw_brokers(document: Document, raw: RawTopology) -> dict[str, RawBroker]:
    if isinstance(raw.brokers, dict):
        return {name: broker or RawBroker() for name, broker in raw.brokers.items()}
    for index, name in enumerate(raw.brokers):
        if name in raw.brokers[:index]:
            raise document.problem(["brokers", index], f"broker `{name}` is listed twice; names must be unique")
    return {name: RawBroker() for name in raw.brokers}


def _brokers(document: Document, raw: RawTopology, links: tuple[Link, ...]) -> tuple[Broker, ...]:
    given = _raw_brokers(document, raw)
    degree = Counter(end for link in links for end in (link.a, link.b))
    brokers = tuple(
        Broker(name, one.role or ("leaf" if degree[name] <= 1 else "inner"), one.group or name)
        for name, one in given.items()
    )
    roles = {broker.role for broker in brokers}
    for broker in brokers:
        path: list[yamlfile.Step] = ["brokers", broker.name]
        for word, what in ((broker.role, "role"), (broker.group, "group")):
            if word and (complaint := naming.complaint(word, what)):
                raise document.problem([*path, what], complaint)
        if broker.name in roles:
            raise document.problem(path, f"`{broker.name}` is a broker and a role; targets could not tell them apart")
        if broker.group != broker.name and broker.group in given and given[broker.group].group != broker.group:
            raise document.problem([*path, "group"], f"group `{broker.group}` has the name of a broker outside it")
    return brokers


def _links(document: Document, raw: RawTopology) -> tuple[Link, ...]:
    brokers = dict.fromkeys(raw.brokers)
    _check_names(document, raw)
    links: dict[frozenset[str], Link] = {}
    for index, one in enumerate(raw.links):
        link = _link(document, index, one)
        for end in (link.a, link.b):
            if end not in brokers:
                raise document.problem(["links", index], f"no broker `{end}`; {known(end, brokers)}")
        if link.a == link.b:
            raise document.problem(["links", index], f"`{link.name}` links a broker to itself; name two brokers")
        ends = frozenset((link.a, link.b))
        if ends in links:
            raise document.problem(["links", index], f"`{link.name}` is linked a second time; one link per pair")
        links[ends] = link
    return tuple(links.values())


def _link(document: Document, index: int, raw: str | RawLink) -> Link:
    if isinstance(raw, RawLink):
        return Link(raw.a, raw.b, raw.delay_ms, raw.weight, raw.jitter_ms, raw.loss, raw.rate_kbps)
    ends = [end.strip() for end in raw.split("-")]
    if len(ends) != 2:
        what = f"`{raw}` is not a link; write `b1-b2`, or {{a: b1, b: b2, delay_ms: 5}}"
        raise document.problem(["links", index], what)
    return Link(ends[0], ends[1])


def _check_names(document: Document, raw: RawTopology) -> None:
    if not raw.brokers:
        raise document.problem(["brokers"], "there is no broker; name at least one")
    folded: dict[str, str] = {}
    for index, name in enumerate(raw.brokers):
        path = ["brokers", name if isinstance(raw.brokers, dict) else index]
        if complaint := naming.complaint(name):
            raise document.problem(path, complaint)
        other = folded.setdefault(name.lower(), name)
        if other != name:
            raise document.problem(path, f"`{name}` and `{other}` differ only in case; host names do not tell that")


def _check_connected(document: Document, topology: Topology) -> None:
    first = topology.broker_names[0]
    reached, waiting = {first}, [first]
    while waiting:
        for neighbour in topology.neighbours(waiting.pop()):
            if neighbour not in reached:
                reached.add(neighbour)
                waiting.append(neighbour)
    lost = [name for name in topology.broker_names if name not in reached]
    if lost:
        raise document.problem(["links"], f"no way from {first} to {', '.join(lost)}; add a link that joins them")
