"""What a person wants to see first, where not everything has room."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from controller.watch.model import BrokerView, ClusterView, LinkView
from controller.watch.words import is_plain

_BROKER_STATES = ("dead", "silent", "stalled", "paused", "not ready", "up")
_LINK_STATES = ("cut", "dead end", "down", "up")


def _by_interest(broker: BrokerView) -> Any:
    """Numbers by their magnitude: a row does not change its place whenever a message comes or goes."""
    queue, unacked, rate = (int(one or 0).bit_length() for one in (broker.queue, broker.unacked, broker.rate_hz))
    trouble = min(_BROKER_STATES.index(broker.state), len(_BROKER_STATES) - 1 - bool(broker.faults))
    return trouble, -(2 * queue + unacked + rate)


# Each as it is sorted by; what is equal stays in the topology's order.
ORDERS: dict[str, Callable[[BrokerView], Any]] = {
    "interest": _by_interest,
    "topology": lambda _: 0,
    "queue": lambda broker: -(broker.queue or 0),
    "rate": lambda broker: -(broker.rate_hz or 0),
    "table": lambda broker: -(broker.table or 0),
    "unacked": lambda broker: -(broker.unacked or 0),
}


def brokers(view: ClusterView, order: str = "interest") -> list[BrokerView]:
    return sorted(view.brokers, key=ORDERS[order])


def links(view: ClusterView) -> list[LinkView]:
    def key(link: LinkView) -> Any:
        return _LINK_STATES.index(link.state), not link.faults, is_plain(link)

    return sorted(view.links, key=key)


def shares(room: int, wants: Sequence[int], floors: Sequence[int]) -> list[int]:
    """How many lines each gets: its floor, then in turns until nobody wants more or nothing is left.

    Who has no floor gets nothing.
    """
    given = [min(want, floor) for want, floor in zip(wants, floors, strict=True)]
    wants = [want if floor else 0 for want, floor in zip(wants, floors, strict=True)]
    while sum(given) > room and any(given):
        given[given.index(max(given))] -= 1
    left = room - sum(given)
    while left > 0 and (hungry := [place for place, want in enumerate(wants) if given[place] < want]):
        for place in hungry[:left]:
            given[place] += 1
        left = room - sum(given)
    return given
