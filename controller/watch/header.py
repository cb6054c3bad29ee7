"""What is true of the whole cluster, in a few lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from rich.text import Text

from controller.faults.base import Fault
from controller.watch.grid import packed
from controller.watch.model import ClusterView
from controller.watch.style import FAULT, STYLES
from controller.watch.words import age, number

FAULTS_NAMED = 4


def header(view: ClusterView, width: int, hint: str = "") -> list[Text]:
    lines = packed(_identity(view, hint), width) + packed(_states(view), width) + packed(_totals(view), width)
    if view.faults:
        lines += packed([_faults(view.faults)], width)
    return lines


def _identity(view: ClusterView, hint: str) -> list[Text]:
    items = [
        Text(view.cluster, style="bold"),
        Text.assemble((view.scheme, "bold"), " on ", (view.topology, "bold")),
        Text(view.runtime),
    ]
    if view.started_t is not None:
        items.append(Text(f"up {age((view.t - view.started_t) / 1e9)}"))
    if view.phase is not None:
        items.append(Text(f"phase {view.phase}", style="cyan"))
    return [*items, Text(hint, style="dim")] if hint else items


def _states(view: ClusterView) -> list[Text]:
    return [
        _counted("broker", [broker.state for broker in view.brokers]),
        _counted("link", [link.state for link in view.links]),
    ]


def _counted(noun: str, states: list[str]) -> Text:
    """`13 brokers: 11 up, 2 dead`, or `13 brokers up`."""
    noun = noun if len(states) == 1 else f"{noun}s"
    counts = Counter(states)
    if len(counts) <= 1:
        only = next(iter(counts), "")
        return Text.assemble(f"{len(states)} {noun} ", (only, STYLES.get(only, "")))
    told: list[Text] = []
    for state, times in sorted(counts.items(), key=lambda one: (one[0] == "up", -one[1])):
        told.append(Text(f"{times} {state}", style=STYLES[state]))
    return Text(f"{len(states)} {noun}: ") + Text(", ").join(told)


def _totals(view: ClusterView) -> list[Text]:
    living = [broker for broker in view.brokers if broker.queue is not None]
    rates = [broker.rate_hz for broker in living if broker.rate_hz is not None]
    items = [Text(f"{number(sum(rates))} messages/s")] if rates else []
    items += [
        Text(f"{number(sum(broker.queue or 0 for broker in living))} queued"),
        Text(f"{number(sum(broker.unacked or 0 for broker in living))} unacknowledged"),
        Text(f"{number(sum(broker.table or 0 for broker in living))} table entries"),
    ]
    if view.published is not None:
        items.append(Text(f"{number(view.published)} published, {number(view.delivered)} delivered"))
    return items


def _faults(faults: Iterable[Fault]) -> Text:
    named = [f"{fault.kind} {fault.name}" for fault in faults]
    more = f" and {len(named) - FAULTS_NAMED} more" if len(named) > FAULTS_NAMED else ""
    word = "fault" if len(named) == 1 else "faults"
    return Text(f"{len(named)} {word} on: {', '.join(named[:FAULTS_NAMED])}{more}", style=FAULT)
