"""When is a network quiet? Pure: two successive rounds of `status` in, what still moves out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

Answers = Mapping[str, Mapping[str, Any] | None]

_BROKER_COUNTERS = ("inc", "accepted", "handled", "forwarded")
_DRIVER_COUNTERS = ("inc", "published", "delivered")


class Round(Struct, frozen=True):
    """What every node answered; None for one that did not."""

    brokers: Answers
    drivers: Answers


def unrest(before: Round | None, now: Round) -> str | None:
    """The first thing that is not at rest, told for a person; None if the network is quiet."""
    for name, broker in now.brokers.items():
        if broker is None:
            return f"{name} does not answer"
        if not broker["ready"]:
            return f"{name} waits for {', '.join(broker['waiting_for']) or 'its neighbours'}"
        if not broker["idle"]:
            return _busy(name, broker)
    for name, driver in now.drivers.items():
        if driver is None:
            return f"{name} does not answer"
        if not driver["done"] or driver["pending"]:
            return f"{name} waits for {driver['pending']} answers"
        for broker, inc in driver["brokers"].items():
            # Clients that have not noticed a restart yet would publish to the dead broker.
            if (answer := now.brokers.get(broker)) is not None and answer["inc"] != inc:
                return f"{name} is not yet in touch with {broker}"
    if before is None:
        return "asked only once so far"
    moved = [
        *_moved(before.brokers, now.brokers, _BROKER_COUNTERS),
        *_moved(before.drivers, now.drivers, _DRIVER_COUNTERS),
    ]
    return f"{moved[0]} was busy in between" if moved else None


def _busy(name: str, broker: Mapping[str, Any]) -> str:
    if broker["queue"] or broker["unacked"]:
        return f"{name} has {broker['queue']} queued and {broker['unacked']} unacknowledged"
    return f"{name} has something that is not settled"


def _moved(before: Answers, now: Answers, counters: tuple[str, ...]) -> list[str]:
    return [
        name
        for name, answer in now.items()
        if answer is not None
        and ((earlier := before.get(name)) is None or any(earlier[key] != answer[key] for key in counters))
    ]
