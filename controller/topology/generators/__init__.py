"""Generators of overlays: one file each, registered at the foot."""

from __future__ import annotations

from controller.errors import UsageError
from controller.topology.generators.balanced_tree import BalancedTree
from controller.topology.generators.barabasi_albert import BarabasiAlbert
from controller.topology.generators.base import Generator, Parameters
from controller.topology.generators.core_chain import CoreChain
from controller.topology.generators.domains import Domains
from controller.topology.generators.grid import Grid
from controller.topology.generators.line import Line
from controller.topology.generators.random_tree import RandomTree
from controller.topology.generators.redundant_tree import RedundantTree
from controller.topology.generators.ring import Ring
from controller.topology.generators.star import Star
from controller.topology.generators.transit_stub import TransitStub
from controller.topology.generators.waxman import Waxman
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
register(BalancedTree())
register(RedundantTree())
register(CoreChain())
register(Domains())
register(Star())
register(Line())
register(Ring())
register(Grid())
register(BarabasiAlbert())
register(Waxman())
