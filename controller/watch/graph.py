"""The overlay as a tree in the terminal, with what is the matter with its brokers and links."""

from __future__ import annotations

import sys

from rich.console import Group, RenderableType
from rich.text import Text

from controller.topology import Topology
from controller.topology import drawing as topology_drawing
from controller.topology.model import Link
from controller.watch.header import header
from controller.watch.model import ClusterView, LinkView
from controller.watch.style import FAULT, STYLES, signs
from controller.watch.words import broker_state, is_plain, link_state, link_treatment, number

WIDTH = 200


def drawing(topology: Topology, view: ClusterView) -> RenderableType:
    marks = signs(sys.stdout.encoding or "utf-8")
    brokers = {broker.name: broker for broker in view.brokers}
    links = {link.name: link for link in view.links}

    def label(name: str, link: Link | None) -> Text:
        broker = brokers[name]
        told = Text.assemble(
            (marks[broker.state], STYLES[broker.state]), " ", (name, "bold"), (f"  {broker.role}", "dim")
        )
        if broker.state != "up":
            told.append(f"  {broker_state(broker)}", style=STYLES[broker.state])
        if broker.queue:
            told.append(f"  queue {number(broker.queue)}", style="yellow")
        for fault in _untold(broker.faults, broker.state):
            told.append(f"  {fault}", style=FAULT)
        return told.append_text(_link(links[link.name])) if link is not None else told

    tree, left_out = topology_drawing.tree(topology, label)
    also = [_also(links[link.name]) for link in left_out]
    return Group(*header(view, WIDTH), Text(), tree, *([Text("also linked:"), *also] if also else []))


def _link(link: LinkView) -> Text:
    """Behind the broker that the link leads to; a dead end is said where it is dead."""
    words = [] if link.state in ("up", "dead end") else [Text(f"link {link_state(link)}", style=STYLES[link.state])]
    treated = link_treatment(link)
    words += [Text(treated, style="" if link.is_changed else "dim")] if treated else []
    words += [Text(fault, style=FAULT) for fault in _untold(link.faults, link.state)]
    return Text("  ── ", style="dim") + Text(", ").join(words) if words else Text()


def _untold(faults: tuple[str, ...], state: str) -> list[str]:
    """Without those that the state says already, as `pause` of what is paused."""
    return [fault for fault in faults if fault not in state]


def _also(link: LinkView) -> Text:
    state = link_state(link) if not is_plain(link) else ""
    name = Text.assemble("  ", (link.name, "" if is_plain(link) else "bold"), f" {state}".rstrip())
    name.stylize(STYLES[link.state] if state and state != "up" else "")
    treated = ", ".join(word for word in (link_treatment(link), *link.faults) if word)
    return name.append(f"  {treated}" if treated else "", style="" if link.is_changed else "dim")
