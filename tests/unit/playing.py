"""A plan's own dumb player: it knows where each client is and what it holds, and objects to what cannot be done."""

from __future__ import annotations

from controller.topology import Topology
from controller.workloads.plans import (
    PHASES,
    Advertise,
    Attach,
    Detach,
    Plan,
    Publish,
    Subscribe,
    Unsubscribe,
)


def of(plan: Plan, kind: type) -> list:  # type: ignore[type-arg]
    return [one for one in plan.operations if isinstance(one, kind)]


def play(plan: Plan, topology: Topology) -> dict[str, list[str]]:
    """Who is where in the end."""
    times = [(PHASES.index(one.phase), one.at_ms) for one in plan.operations]
    assert times == sorted(times)
    at: dict[str, list[str]] = {}
    holder: dict[str, tuple[str, str]] = {}
    used: set[str] = set()
    for one in plan.operations:
        here = at.setdefault(one.client, [])
        match one:
            case Attach(client=client, broker=broker):
                assert topology.broker(broker) and broker not in here and len(here) < 2, one
                here.append(broker)
                continue
            case Detach(client=client, broker=left):
                gone = list(here) if left is None else [left]
                assert gone and set(gone) <= set(here), one
                holder = {sub: held for sub, held in holder.items() if held[0] != client or held[1] not in gone}
                at[client] = [broker for broker in here if broker not in gone]
            case Unsubscribe(client=client, sub=sub):
                assert holder.pop(sub)[0] == client
            case Subscribe(client=client, sub=sub):
                assert sub not in used
                used.add(sub)
                holder[sub] = (client, here[-1])
            case Advertise() | Publish():
                assert len(here) == 1, "a publisher stays where it is"
    return at
