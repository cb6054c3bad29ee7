"""A random fault schedule is a run like any other, with everything in it drawn from its seed."""

from __future__ import annotations

from random import Random

from msgspec import structs

from controller.campaigns.settled import Phases, PlannedRun
from controller.campaigns.soak import blows
from controller.campaigns.soak.restless import Restless
from controller.sim.settings import Settings
from controller.topology import Topology
from controller.topology.model import Broker, Link
from controller.workloads.plans import Plan

NAME = "soak"
LOAD_S = 2
BROKERS_MAX = 6


def schedule(scheme: str, seed: int) -> PlannedRun:
    """The same network, clients and faults for every scheme."""
    random = Random(f"{seed}/{NAME}")
    topology = _topology(random, seed)
    restless = Restless(topology.broker_names, random, LOAD_S * 1000)
    plan = Plan.of(restless.operations())
    return PlannedRun(
        campaign=NAME,
        description=f"the random fault schedule {seed}",
        topology=topology,
        scheme=scheme,
        parameters={},
        workload={"kind": "restless", "seed": seed},
        given=plan,
        faults=blows.drawn(topology, plan.clients, random, LOAD_S),
        phases=Phases(load_s=LOAD_S, warm_s=0, heal_s=5),
        seed=seed,
        log="deliveries",
        sim=_settings(random),
    )


def _topology(random: Random, seed: int) -> Topology:
    """Mostly trees; one in five has a link more than it needs."""
    names = [f"b{number}" for number in range(1, random.choice((2, 3, 3, 4, 4, 5, BROKERS_MAX)) + 1)]
    pairs = [(names[random.randrange(place)], name) for place, name in enumerate(names) if place]
    spare = [(a, b) for place, b in enumerate(names) for a in names[:place] if (a, b) not in pairs]
    if spare and random.random() < 0.2:
        pairs.append(random.choice(spare))
    return Topology(
        name=f"{NAME}-{seed}",
        description="drawn at random",
        brokers=tuple(Broker(name, "inner", name) for name in names),
        links=tuple(_link(a, b, random) for a, b in pairs),
    )


def _link(a: str, b: str, random: Random) -> Link:
    if random.random() < 0.6:
        return Link(a, b)
    return Link(
        a,
        b,
        delay_ms=random.choice((0, 1, 10, 60)),
        jitter_ms=random.choice((0, 0, 5, 40)),
        loss=random.choice((0, 0, 0.05)),
        weight=random.choice((1, 1, 2)),
    )


def _settings(random: Random) -> Settings:
    """Fast brokers, and slow ones in which things pile up; sessions with room, and such that are always full."""
    times = random.choice((Settings(), Settings(), Settings(publication_us=4_000, control_us=3_000, hop_us=500)))
    if random.random() < 0.4:
        return times
    return structs.replace(
        times,
        credit=random.choice((1, 4, 16)),
        window=random.choice((8, 16)),
        batch=random.choice((2, 4)),
        heartbeat_ms=300,
        silence_ms=900,
    )
