"""The workload `prefixes`: packets with addresses, and people who watch networks within networks."""

from __future__ import annotations

from random import Random
from typing import Annotated, Literal

from msgspec import Meta

from controller.workloads.base import Kind
from controller.workloads.laws import Skew, Zipf
from controller.workloads.load import Load, World
from controller.workloads.plans import Content

BITS = 32
# Roughly as long as the prefixes of a routing table of the internet are.
LENGTHS = {8: 1, 11: 2, 14: 3, 16: 12, 18: 5, 19: 6, 20: 9, 21: 8, 22: 14, 23: 8, 24: 52}
PORTS = (443, 80, 53, 22, 25, 123)

Probability = Annotated[int, Meta(ge=0, le=1)] | Annotated[float, Meta(ge=0, le=1)]
Notation = Literal["bits", "numbers"]


class Prefixes(Load, frozen=True, kw_only=True, forbid_unknown_fields=True):
    kind: Literal["prefixes"] = "prefixes"
    networks: Annotated[int, Meta(ge=1, le=100_000, description="How many networks there are.")] = 200
    nested: Annotated[Probability, Meta(description="How likely a network is a part of another one.")] = 0.6
    theta: Annotated[Skew, Meta(description="Zipf's exponent of how much more some networks talk than others.")] = 0.8
    p_port: Annotated[Probability, Meta(description="How likely one asks for a port, too.")] = 0.3
    notation: Annotated[
        Notation, Meta(description="bits: addresses are texts of 32 bits, asked for by prefix; numbers: by range.")
    ] = "bits"


class Internet:
    """Networks by their leading bits, the talkative ones first."""

    def __init__(self, parameters: Prefixes, random: Random) -> None:
        self.networks: list[str] = []
        self._notation = parameters.notation
        known: set[str] = set()
        while len(self.networks) < parameters.networks:
            made = self._network(parameters.nested, random)
            # A crowded part of the net has no room for another one of that length.
            if made not in known or random.random() < 0.01:
                known.add(made)
                self.networks.append(made)
        self._talks = Zipf(theta=parameters.theta).over(len(self.networks))

    def _network(self, nested: float, random: Random) -> str:
        around = random.choice(self.networks) if self.networks and random.random() < nested else ""
        lengths = {length: weight for length, weight in LENGTHS.items() if length > len(around)} or {BITS: 1}
        length = random.choices(list(lengths), list(lengths.values()))[0]
        return around + _bits(length - len(around), random)

    def one(self, random: Random) -> str:
        return self.networks[self._talks.draw(random)]

    def address(self, network: str, random: Random) -> str | int:
        address = network + _bits(BITS - len(network), random)
        return address if self._notation == "bits" else int(address, 2)

    def within(self, name: str, network: str) -> str:
        """The filter for addresses of a network."""
        if self._notation == "bits":
            return f'{name} prefix "{network}"'
        size = 2 ** (BITS - len(network))
        first = int(network, 2) * size
        return f"{name} >= {first} and {name} < {first + size}"


class Probe:
    """Reports the packets that leave one network."""

    def __init__(self, client: str, internet: Internet, network: str, random: Random) -> None:
        self.client = client
        self.advertised: tuple[str, ...] = (internet.within("src", network),)
        self._internet = internet
        self._network = network
        self._random = random

    def content(self) -> Content:
        random = self._random
        port = random.choice(PORTS) if random.random() < 0.8 else random.randrange(1024, 65536)
        return {
            "src": self._internet.address(self._network, random),
            "dst": self._internet.address(self._internet.one(random), random),
            "port": port,
            "bytes": min(1500, 40 + int(random.expovariate(1 / 400))),
        }


class Watchers:
    def __init__(self, internet: Internet, p_port: float, random: Random) -> None:
        self._internet = internet
        self._p_port = p_port
        self._random = random

    def draw(self) -> str:
        random = self._random
        name = "src" if random.random() < 0.1 else "dst"
        wanted = self._internet.within(name, self._internet.one(random))
        if random.random() < self._p_port:
            return f"{wanted} and port = {random.choice(PORTS)}"
        if random.random() < 0.1:
            return f"{wanted} or {self._internet.within(name, self._internet.one(random))}"
        return wanted


class PrefixesKind(Kind):
    name = "prefixes"
    summary = "packets between networks; prefixes within prefixes are watched"
    Parameters = Prefixes

    def world(self, parameters: Prefixes, random: Random) -> World:
        internet = Internet(parameters, random)

        def publisher(number: int, client: str, random: Random) -> Probe:
            return Probe(client, internet, internet.networks[number % len(internet.networks)], random)

        def interests(random: Random) -> Watchers:
            return Watchers(internet, parameters.p_port, random)

        return World("attr", publisher, interests)


def _bits(count: int, random: Random) -> str:
    return f"{random.getrandbits(count):0{count}b}" if count else ""
