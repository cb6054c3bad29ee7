"""Where clients sit."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, cycle, islice
from random import Random

from controller.topology import Topology

STEPS_MAX = 10_000


class Seating:
    """Publishers at `producer` brokers and the others at `consumer` brokers where the overlay has such; else at the
    edge as long as there is room, then everywhere.
    """

    def __init__(self, topology: Topology, random: Random) -> None:
        self._topology = topology

        def shuffled(*roles: str) -> list[str]:
            names = [broker.name for broker in topology.brokers if not roles or broker.role in roles]
            return random.sample(names, len(names))

        edge = shuffled("leaf", "stub")
        usual = chain(edge, cycle(shuffled()))
        producers, consumers = shuffled("producer"), shuffled("consumer")
        self.for_publishers: Iterator[str] = cycle(producers) if producers else usual
        self.for_others: Iterator[str] = cycle(consumers) if consumers else usual
        chosen = set(consumers or (edge if len(edge) > 1 else topology.broker_names))
        self.places = tuple(name for name in topology.broker_names if name in chosen)
        """Where those go who move, in the topology's order."""

    def of(self, clients: list[str], publishers: int) -> dict[str, str]:
        """Client → its broker; those who publish come first."""
        seats = chain(islice(self.for_publishers, publishers), self.for_others)
        return dict(zip(clients, seats, strict=False))

    def step(self, broker: str, random: Random) -> str:
        """The next place that somebody comes to who wanders along the links."""
        at = broker
        for _ in range(STEPS_MAX):
            at = random.choice(self._topology.neighbours(at))
            if at != broker and at in self.places:
                return at
        return random.choice([place for place in self.places if place != broker])
