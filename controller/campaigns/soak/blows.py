"""Faults of every kind that does not kill for good, at random times, often several at the same moment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from controller import faults
from controller.campaigns.timetable import FaultEvent
from controller.topology import Link, Topology

BLOWS_MAX = 8
# Longer ones keep messages under way for longer than a subscription's cancellation is owed them (`flight`).
LASTS_S = (0.05, 1.2)

Arguments = Callable[[Random], dict[str, Any]]


def _share(random: Random) -> dict[str, Any]:
    return {"share": random.choice((0.1, 0.3, 0.5))} | _direction(random)


def _direction(random: Random) -> dict[str, Any]:
    return random.choice(({}, {}, {"direction": "forth"}, {"direction": "back"}))


# Kind -> its arguments, and how often it is drawn. What kills a broker unrecorded, as `memory` does, is no fault that
# a scheme could be judged by. `stop` is left out: a successor says who wants what before it has heard where producers
# are, so schemes with advertisements lose what is published meanwhile, and nothing excuses that (docs/design.md).
_ARGUMENTS: dict[str, tuple[Arguments, int]] = {
    "kill": (lambda random: {}, 4),
    "restart": (lambda random: {}, 4),
    "pause": (lambda random: {}, 3),
    "cut": (_direction, 4),
    "partition": (lambda random: {}, 2),
    "flap": (lambda random: {"up_ms": random.choice((30, 100)), "down_ms": random.choice((30, 100))}, 2),
    "delay": (lambda random: {"delay_ms": random.choice((5, 50, 200))} | _direction(random), 2),
    "jitter": (lambda random: {"jitter_ms": random.choice((10, 100))} | _direction(random), 1),
    "loss": (_share, 3),
    "duplicate": (_share, 3),
    "reorder": (_share, 3),
    "rate": (lambda random: {"rate_kbps": random.choice((100, 1000))} | _direction(random), 1),
    "throttle": (lambda random: {"cpu_share": random.choice((0.1, 0.5))}, 1),
    "clock-skew": (lambda random: {"rate": random.choice((0.5, 2, 5))}, 1),
    "disk-full": (lambda random: {}, 2),
    "isolate": (lambda random: {}, 2),
    "client-crash": (lambda random: {}, 3),
}


def kinds() -> tuple[str, ...]:
    return tuple(kind for kind in _ARGUMENTS if kind in faults.names())


def drawn(topology: Topology, clients: Sequence[str], random: Random, load_s: float) -> tuple[FaultEvent, ...]:
    """In order of time."""
    known = kinds()
    weights = [_ARGUMENTS[kind][1] for kind in known]
    made: list[FaultEvent] = []
    for _ in range(random.randint(1, BLOWS_MAX)):
        at_s = _moment(random, made, load_s)
        if topology.links and random.random() < 0.1:
            made += _both_sides(random.choice(topology.links), at_s, random)
            continue
        kind = random.choices(known, weights)[0]
        args, until_s = _ARGUMENTS[kind][0](random), _until_s(kind, at_s, load_s, random)
        made += [FaultEvent(at_s, until_s, kind, target, args) for target in _targets(kind, topology, clients, random)]
    return tuple(sorted(made, key=lambda event: event.at_s))


def _moment(random: Random, made: Sequence[FaultEvent], load_s: float) -> float:
    if made and random.random() < 0.4:
        near_s = random.choice(made).at_s + random.choice((0, 0, 0.001, 0.05))
        if near_s < load_s:
            return round(near_s, 3)
    return round(random.uniform(0, load_s), 3)


def _until_s(kind: str, at_s: float, load_s: float, random: Random) -> float | None:
    if faults.find(kind).heals_at_once:
        return None
    until_s = round(at_s + random.uniform(*LASTS_S), 3)
    return until_s if until_s < load_s else None


def _both_sides(link: Link, at_s: float, random: Random) -> list[FaultEvent]:
    """Both ends of a link die, at once or in the middle of finding each other again."""
    later_s = round(at_s + random.choice((0, 0.001, 0.02, 0.2)), 3)
    return [
        FaultEvent(at_s, None, "restart", f"broker:{link.a}", {}),
        FaultEvent(later_s, None, "restart", f"broker:{link.b}", {}),
    ]


def _targets(kind: str, topology: Topology, clients: Sequence[str], random: Random) -> list[str]:
    if kind == "partition":
        apart = set(random.sample(topology.broker_names, random.randint(1, max(1, len(topology.brokers) // 2))))
        return [f"link:{link.name}" for link in topology.links if (link.a in apart) != (link.b in apart)]
    on = random.choice(faults.find(kind).on)
    if on == "client":
        return [f"client:{random.choice(clients)}"]
    if on == "link":
        return [f"link:{random.choice(topology.links).name}"] if topology.links else []
    return [f"broker:{random.choice(topology.broker_names)}"]
