"""Generators of overlays: one file each, registered at the foot."""

from __future__ import annotations

from controller.errors import UsageError
from controller.topology.generators.base import Generator, Parameters
from controller.topology.generators.random_tree import RandomTree
from controller.topology.generators.transit_stub import TransitStub
from controller.yamlfile import known

__all__ = ["GENERATORS", "Generator", "Parameters", "find"]

GENERATORS: dict[str, Generator] = {}


def find(name: str) -> Generator:
    if name not in GENERATORS:
        raise UsageError(f"no generator `{name}`; {known(name, GENERATORS)}")
    return GENERATORS[name]


def register(generator: Generator) -> None:
    GENERATORS[generator.name] = generator


register(TransitStub())
register(RandomTree())
