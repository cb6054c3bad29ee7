"""A cluster on a terminal of any size: the most interesting has room, and what has none is counted."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TypeVar

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from controller.watch import interest
from controller.watch.grid import Column, beside, grid
from controller.watch.header import header
from controller.watch.model import BrokerView, ClusterView, Event, LinkView
from controller.watch.style import EVENT_STYLES, FAULT, STYLES, signs
from controller.watch.words import broker_state, is_plain, link_state, link_treatment, number

BESIDE_FROM = 118
LEFT_SHARE = 0.58
HEADER_SHARE = 3
GAP = 4
BAR = 8

Row = TypeVar("Row")

_BROKER_COLUMNS = (
    Column(""), Column("broker", most=18), Column("state", most=26), Column("queue", right=True),
    Column("", rank=5), Column("msg/s", right=True), Column("table", rank=1, right=True),
    Column("unacked", rank=1, right=True), Column("inc", rank=2, right=True),
    Column("clients", rank=4, right=True), Column("handled", rank=6, right=True), Column("faults", rank=3, most=30),
)  # fmt: skip
_LINK_COLUMNS = (
    Column(""), Column("link", most=30), Column("state", most=24), Column("treatment", rank=2, most=44),
    Column("faults", rank=1, most=30),
)  # fmt: skip
_EVENT_COLUMNS = (Column("time"), Column("node", most=18), Column("what happened"))


class Screen:
    """Fills exactly the height it is given; without one it shows everything there is."""

    def __init__(self, view: ClusterView, order: str = "interest", hint: str = "", is_whole: bool = False) -> None:
        self._view = view
        self._order = order
        self._hint = hint
        self._is_whole = is_whole

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        height = None if self._is_whole else options.height or options.max_height
        lines = self.lines(options.max_width, height, signs(console.encoding))
        for line in lines:
            line.no_wrap, line.end, line.overflow = True, "\n", "crop"
            yield line

    def lines(self, width: int, height: int | None, marks: dict[str, str]) -> list[Text]:
        told = header(self._view, width, self._hint)
        top = [*(told if height is None else told[: max(1, height // HEADER_SHARE)]), Text()]
        room = None if height is None else max(0, height - len(top))
        below = self._stacked if self._is_whole or width < BESIDE_FROM else self._beside
        lines = [*top, *below(room, width, marks)]
        for line in lines:
            line.truncate(width, overflow="ellipsis")
        return lines if height is None else lines[:height]

    def _stacked(self, room: int | None, width: int, marks: dict[str, str]) -> list[Text]:
        brokers, links = interest.brokers(self._view, self._order), interest.links(self._view)
        events = self._view.events
        plain = sum(is_plain(link) for link in links)
        # Links with nothing to tell share a line, unless there is room for all.
        wants = [_HEAD + len(brokers), _HEAD + min(len(links), len(links) - plain + 1), _HEAD + max(1, len(events))]
        given = wants if room is None else interest.shares(room, wants, _floors(room))
        spare = len(links) if room is None else room - sum(given)
        given[1] += min(spare, _HEAD + len(links) - given[1]) if given[1] else 0
        return [
            *_filled(_brokers(brokers, given[0] - _HEAD, width, marks), given[0]),
            *_filled(_links(links, given[1] - _HEAD, width, marks), given[1]),
            *_events(events, given[2] - 1, width),
        ]

    def _beside(self, room: int | None, width: int, marks: dict[str, str]) -> list[Text]:
        brokers, links = interest.brokers(self._view, self._order), interest.links(self._view)
        events = self._view.events
        wants = [_HEAD + max(len(brokers), len(links)), _HEAD + max(1, len(events))]
        given = wants if room is None else interest.shares(room, wants, (10, 6))
        table = _brokers(brokers, given[0] - _HEAD, round(width * LEFT_SHARE), marks)
        left = max(line.cell_len for line in table)
        both = beside(table, _links(links, given[0] - _HEAD, width - left - GAP, marks), left, GAP)
        return [*_filled(both, given[0]), *_events(events, given[1] - 1, width)]


# A heading above, an empty line below.
_HEAD = 2


def _floors(room: int) -> tuple[int, int, int]:
    """Of brokers, links and events, one above the other: the last ones are the first to go."""
    if room < 9:
        return room, 0, 0
    return (8, 3, 4) if room >= 15 else (room - 4, 0, 4)


def _filled(lines: list[Text], height: int) -> list[Text]:
    return (lines + [Text()] * height)[:height]


def _brokers(brokers: Sequence[BrokerView], room: int, width: int, marks: dict[str, str]) -> list[Text]:
    shown, rest = _cut(brokers, room)
    deepest = max((broker.queue or 0 for broker in brokers), default=0)
    lines = grid(_BROKER_COLUMNS, [_broker_cells(broker, marks, deepest) for broker in shown], width)
    return [*lines, _rest_of_brokers(rest)] if rest else lines


def _broker_cells(broker: BrokerView, marks: dict[str, str], deepest: int) -> list[Text]:
    style = STYLES[broker.state]
    return [
        Text(marks[broker.state], style=style),
        Text(broker.name, style="bold"),
        Text(broker_state(broker), style=style),
        Text(number(broker.queue), style="" if broker.queue else "dim"),
        Text(marks["bar"] * round(BAR * (broker.queue or 0) / max(1, deepest)), style="yellow"),
        Text(number(broker.rate_hz), style="" if broker.rate_hz else "dim"),
        Text(number(broker.table)),
        Text(number(broker.unacked), style="" if broker.unacked else "dim"),
        Text(number(broker.inc)),
        Text(number(broker.clients)),
        Text(number(broker.handled)),
        Text(", ".join(broker.faults), style=FAULT),
    ]


def _rest_of_brokers(rest: Sequence[BrokerView]) -> Text:
    """What is not seen must not be something that one would have wanted to see."""
    troubled = [broker for broker in rest if broker.state != "up"]
    states = f"{len(troubled)} of them not up" if troubled else "all up"
    queues = max((broker.queue or 0 for broker in rest), default=0)
    return Text(
        f"and {len(rest)} more, {states}, {f'queues up to {queues:,}' if queues else 'queues empty'}", style="dim"
    )


def _links(links: Sequence[LinkView], room: int, width: int, marks: dict[str, str]) -> list[Text]:
    shown, rest = _cut(links, room)
    lines = grid(_LINK_COLUMNS, [_link_cells(link, marks) for link in shown], width)
    if not rest:
        return lines
    troubled = sum(not is_plain(link) for link in rest)
    told = f"{troubled} of them with something to tell" if troubled else "all up and untouched"
    return [*lines, Text(f"and {len(rest)} more, {told}", style="dim")]


def _link_cells(link: LinkView, marks: dict[str, str]) -> list[Text]:
    style = STYLES[link.state]
    return [
        Text(marks[link.state], style=style),
        Text(link.name, style="bold" if not is_plain(link) else ""),
        Text(link_state(link), style=style),
        Text(link_treatment(link)),
        Text(", ".join(link.faults), style=FAULT),
    ]


def _events(events: Sequence[Event], room: int, width: int) -> list[Text]:
    """The newest at the top, where the eye is."""
    if room < 1:
        return []
    if not events:
        return [Text("nothing has happened yet", style="dim")]
    rows = [
        [Text(clock(event.t), style="dim"), Text(event.node, style="bold"), _told(event)]
        for event in list(reversed(events))[:room]
    ]
    return grid(_EVENT_COLUMNS, rows, width)


def _told(event: Event) -> Text:
    again = f" × {event.times}" if event.times > 1 else ""
    return Text(event.text + again, style=EVENT_STYLES[event.event])


def clock(t: int) -> str:
    return time.strftime("%H:%M:%S", time.localtime(t / 1e9))


def _cut(rows: Sequence[Row], room: int) -> tuple[Sequence[Row], Sequence[Row]]:
    """A lone row is not replaced by a line that counts it."""
    if len(rows) <= room:
        return rows, []
    seen = max(0, room - 1)
    return rows[:seen], rows[seen:]
