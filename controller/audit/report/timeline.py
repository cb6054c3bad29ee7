"""The campaign at a glance: its phases, and one lane for each thing that was broken."""

from __future__ import annotations

from markupsafe import Markup

from controller.audit.report.charts import AXIS_PX, time_axis
from controller.audit.report.layout import LETTER_PX, NARROW_PX, WIDE_PX
from controller.audit.report.model import Phase, RunData
from controller.audit.report.scales import TimeAxis
from controller.audit.report.svg import element, percent
from controller.audit.report.windows import Window, argument_words, windows
from controller.text import duration, plural

PHASE_PX = 24
LANE_PX = 22
BAR_PX = 12
LANES_MAX = 24
QUIET = "quiet"


def timeline(data: RunData, axis: TimeAxis) -> Markup:
    lanes = _lanes(windows(data.faults, axis))
    bands = tuple(phase for phase in data.phases if phase.name != QUIET)
    rows = _phase_rows(bands, data.end_t)
    top = PHASE_PX * (1 + max(rows)) + 10 if rows else 0
    height = top + LANE_PX * min(len(lanes), LANES_MAX) + (4 if lanes else 0)
    parts = [_phase(phase, axis, row, height) for phase, row in zip(bands, rows, strict=True)]
    parts += [_quiet(phase, axis, height) for phase in data.phases if phase.name == QUIET]
    for position, lane in enumerate(lanes[:LANES_MAX]):
        parts += _lane(lane, top + LANE_PX * position)
    parts += time_axis(axis, height)
    described = f"{plural(len(bands), 'phase')} and {plural(data.faults_total, 'fault')} over time"
    svg = element("svg", *parts, width="100%", height=height, role="img", aria_label=described, overflow="visible")
    return element("div", svg, class_="chart timeline", style=f"padding-top:4px;padding-bottom:{AXIS_PX}px")


def _phase_rows(phases: tuple[Phase, ...], run_end_t: int) -> list[int]:
    """A phase within another stands below it."""
    ends: list[int] = []
    rows = []
    for phase in phases:
        end_t = run_end_t if phase.end_t is None else phase.end_t
        row = next((row for row, taken in enumerate(ends) if taken <= phase.start_t), len(ends))
        ends[row : row + 1] = [end_t]
        rows.append(row)
    return rows


def _quiet(phase: Phase, axis: TimeAxis, height: int) -> Markup:
    """Not a stretch of time but a finding: from here on nothing moved any more."""
    place = percent(axis.place(phase.start_t))
    title = f"the network was quiet after {duration(max(0, phase.start_t - axis.start_t))}"
    return element("line", element("title", title), x1=place, x2=place, y1=0, y2=height, class_="quiet")


def lanes_left_out(data: RunData, axis: TimeAxis) -> int:
    return max(0, len(_lanes(windows(data.faults, axis))) - LANES_MAX)


def _lanes(found: list[Window]) -> list[list[Window]]:
    """One lane for each kind of fault at each target, in the order of their first appearance."""
    lanes: dict[tuple[str, str], list[Window]] = {}
    for window in found:
        lanes.setdefault((window.fault.kind, window.fault.target), []).append(window)
    return list(lanes.values())


def _phase(phase: Phase, axis: TimeAxis, row: int, height: int) -> Markup:
    end_t = axis.end_t if phase.end_t is None else phase.end_t
    start, end = axis.place(phase.start_t), axis.place(end_t)
    width, top = end - start, row * PHASE_PX
    parts = [
        element("title", f"{phase.name}: {duration(end_t - phase.start_t)}"),
        element("rect", x=percent(start), y=top, width=percent(max(width, 0.001)), height=PHASE_PX - 2, class_="phase"),
        element("line", x1=percent(start), x2=percent(start), y1=top, y2=height, class_="phase-edge"),
    ]
    if width * WIDE_PX > len(phase.name) * LETTER_PX + 8:
        roomy = width * NARROW_PX > len(phase.name) * LETTER_PX + 8
        class_ = "phase-name" if roomy else "phase-name wide-only"
        middle = percent(start + width / 2)
        parts.append(element("text", phase.name, x=middle, y=top + 15, text_anchor="middle", class_=class_))
    return element("g", *parts)


def _lane(lane: list[Window], y: int) -> list[Markup]:
    bars = []
    middle = y + (LANE_PX - BAR_PX) / 2
    for window in lane:
        bars.append(_bar(window.start, window.heal, middle, f"bar bar-{window.fault.family}", window.title))
        if window.settled > window.heal:
            bars.append(_bar(window.heal, window.settled, middle, f"bar tail bar-{window.fault.family}", window.title))
    return [*bars, *_labels(lane, y + LANE_PX / 2 + 4)]


def _bar(start: float, end: float, y: float, class_: str, title: str) -> Markup:
    return element(
        "rect",
        element("title", title),
        x=percent(start),
        y=y,
        width=percent(max(end - start, 0.003)),
        height=BAR_PX,
        rx=2,
        class_=class_,
    )


def _labels(lane: list[Window], y: float) -> list[Markup]:
    text = lane[0].fault.label + argument_words(lane[0].fault)
    if len(lane) > 1:
        text += f" × {len(lane)}"
    return [_label(lane, text, y, WIDE_PX, "wide-only"), _label(lane, text, y, NARROW_PX, "narrow-only")]


def _label(lane: list[Window], text: str, y: float, width_px: int, class_: str) -> Markup:
    """Beside the bars, on a side that has the room; a lane full of bar carries its label inside."""
    first, last = lane[0].start, max(window.settled for window in lane)
    needed = (len(text) * LETTER_PX + 12) / width_px
    if 1 - last >= needed:
        place, anchor, shift = last, "start", 6
    elif first >= needed:
        place, anchor, shift = first, "end", -6
    else:
        place, anchor, shift = max(0.0, min(first, 1 - needed)), "start", 6
        class_ += " inside"
    return element("text", text, x=percent(place), y=y, dx=shift, text_anchor=anchor, class_=f"lane-label {class_}")
