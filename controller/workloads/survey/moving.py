"""Who goes where."""

from __future__ import annotations

from msgspec import Struct

from controller.workloads.plans import Attach, Detach, Plan


class Trip(Struct, frozen=True):
    at_s: float
    client: str
    left: str
    reached: str


def trips(plan: Plan) -> list[Trip]:
    """A client that is at a broker and attaches to another one is on a trip; who left altogether is not."""
    at: dict[str, str] = {}
    made = []
    for one in plan.operations:
        if isinstance(one, Attach):
            if one.client in at:
                made.append(Trip(round(one.at_ms / 1000, 3), one.client, at[one.client], one.broker))
            at[one.client] = one.broker
        elif isinstance(one, Detach) and one.broker is None:
            at.pop(one.client, None)
    return made
