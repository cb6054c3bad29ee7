"""Asks a live cluster how it is, again and again, and puts the answers together with what its logs tell."""

from __future__ import annotations

import time
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from controller import runtimes
from controller.cluster.live import LiveCluster, Status
from controller.faults.base import Fault
from controller.runtimes.base import NodeState
from controller.topology import Link
from controller.watch.chronicle import Chronicle
from controller.watch.model import BrokerView, ClusterView, LinkState, LinkView, State
from controller.watch.words import shape_from

ANSWER_WITHIN_S = 1.0


class Observer:
    def __init__(self, cluster: LiveCluster) -> None:
        self._cluster = cluster
        self._chronicle = Chronicle(cluster.directory / "logs")
        self._started_t, self._topology = _of_run(cluster.directory)
        self._before: dict[str, tuple[int, int, float]] = {}
        """Broker → its incarnation, what it had handled, and when it said so."""

    def look(self) -> ClusterView:
        cluster, chronicle = self._cluster, self._chronicle
        states = cluster.runtime.state()
        asked = [name for name in (*cluster.brokers, *cluster.drivers) if states[name] == "running"]
        statuses = cluster.statuses(asked, ANSWER_WITHIN_S) if states["gateway"] == "running" else {}
        now_s = time.monotonic()
        chronicle.read_on()
        drivers = [one for name in cluster.drivers if (one := statuses.get(name)) is not None]
        return ClusterView(
            cluster=cluster.name,
            scheme=cluster.facts.scheme,
            topology=self._topology or cluster.topology.name,
            runtime=cluster.facts.runtime,
            directory=str(cluster.directory),
            t=time.time_ns(),
            started_t=self._started_t,
            phase=chronicle.phase,
            brokers=tuple(
                self._broker(name, states[name], statuses.get(name), chronicle.faults, now_s)
                for name in cluster.brokers
            ),
            links=tuple(_link(link, states, statuses, chronicle.faults) for link in cluster.topology.links),
            faults=chronicle.faults,
            events=chronicle.events,
            published=sum(one["published"] for one in drivers) if drivers else None,
            delivered=sum(one["delivered"] for one in drivers) if drivers else None,
            nodes=states,
        )

    def is_down(self, view: ClusterView) -> bool:
        """Nothing of it is left; all its nodes may be dead for a moment while it is being taken down."""
        return view.is_gone and not runtimes.is_there(self._cluster.name, self._cluster.directory)

    def _broker(
        self, name: str, state: NodeState, status: Status | None, faults: Iterable[Fault], now_s: float
    ) -> BrokerView:
        own = tuple(fault.kind for fault in faults if fault.target == f"broker:{name}")
        role = self._cluster.topology.broker(name).role
        if status is None:
            self._before.pop(name, None)
            return BrokerView(name=name, role=role, state="silent" if state == "running" else state, faults=own)
        return BrokerView(
            name=name,
            role=role,
            state=_state(status),
            inc=status["inc"],
            waiting_for=tuple(status["waiting_for"]),
            queue=status["queue"],
            rate_hz=self._rate_hz(name, status, now_s),
            table=status["table"],
            unacked=status["unacked"],
            handled=status["handled"],
            clients=status["clients"],
            faults=own,
        )

    def _rate_hz(self, name: str, status: Status, now_s: float) -> float | None:
        before = self._before.get(name)
        self._before[name] = (status["inc"], status["handled"], now_s)
        if before is None or before[0] != status["inc"] or now_s <= before[2]:
            return None
        return float((status["handled"] - before[1]) / (now_s - before[2]))


def _state(status: Status) -> State:
    if status.get("stalled"):
        return "stalled"
    return "up" if status["ready"] else "not ready"


def _link(
    link: Link, states: dict[str, NodeState], statuses: dict[str, Status | None], faults: Iterable[Fault]
) -> LinkView:
    ends = [(broker, _end(broker, peer, statuses)) for broker, peer in ((link.a, link.b), (link.b, link.a))]
    own = tuple(
        fault.kind for fault in faults if fault.target in (f"link:{link.a}-{link.b}", f"link:{link.b}-{link.a}")
    )
    forth, back = (shape_from(end) if end is not None else None for _, end in ends)
    state, why = _link_state(ends, states)
    return LinkView(
        a=link.a,
        b=link.b,
        state=state,
        why=why,
        forth=forth,
        back=back,
        is_changed=any(shape not in (None, link.shape) for shape in (forth, back)),
        faults=own,
    )


def _end(broker: str, peer: str, statuses: dict[str, Status | None]) -> dict[str, Any] | None:
    status = statuses.get(broker)
    return None if status is None else status["links"][peer]


def _link_state(ends: list[tuple[str, dict[str, Any] | None]], states: dict[str, NodeState]) -> tuple[LinkState, str]:
    """A dead end explains that the other one sees the link down; a cut explains it too."""
    for broker, end in ends:
        if end is None:
            return "dead end", f"{broker} is {states[broker] if states[broker] != 'running' else 'silent'}"
    told = [(broker, end) for broker, end in ends if end is not None]
    cut = [broker for broker, end in told if end["cut"]]
    if cut:
        return "cut", "" if len(cut) == len(told) else f"cut from {cut[0]}"
    return ("up" if all(end["state"] == "up" for _, end in told) else "down"), ""


def _of_run(directory: Path) -> tuple[int | None, str | None]:
    """When it was started and on which topology, if the directory still says so."""
    try:
        facts = msgspec.json.decode((directory / "run.json").read_bytes())
        return round(datetime.fromisoformat(facts["started"]).timestamp() * 1e9), facts["topology"]
    except (OSError, msgspec.DecodeError, KeyError, TypeError, ValueError):
        return None, None
