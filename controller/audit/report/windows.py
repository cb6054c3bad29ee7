"""Fault windows: shaded in every chart over time, and labelled where there is room."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from controller.audit.report.layout import NARROW_PX, WIDE_PX
from controller.audit.report.model import Fault
from controller.audit.report.scales import TimeAxis
from controller.audit.report.svg import element, percent
from controller.text import duration

LABEL_ROW_PX = 15
LABEL_LETTER_PX = 6.2


@dataclass(frozen=True)
class Window:
    fault: Fault
    start: float
    heal: float
    settled: float

    @property
    def title(self) -> str:
        fault = self.fault
        healed = "not healed" if fault.heal_t is None else f"healed after {duration(fault.heal_t - fault.apply_t)}"
        text = f"{fault.label}{argument_words(fault)}: {healed}"
        if fault.heal_t is not None and fault.settled_t is not None:
            text += f", settled {duration(max(0, fault.settled_t - fault.heal_t))} later"
        return text


def windows(faults: tuple[Fault, ...], axis: TimeAxis) -> list[Window]:
    """A fault without heal lasts to the end of the run."""
    found = []
    for fault in faults:
        heal = 1.0 if fault.heal_t is None else axis.place(fault.heal_t)
        settled = heal if fault.settled_t is None else max(heal, axis.place(fault.settled_t))
        found.append(Window(fault, axis.place(fault.apply_t), heal, settled))
    return found


def argument_words(fault: Fault) -> str:
    """`delay_ms: 20` as ` 20 ms`, as far as the arguments carry their unit in their name."""
    words = []
    for name, value in list(fault.args.items())[:4]:
        unit = name.rpartition("_")[2]
        if unit in ("ms", "s", "hz", "ns") and isinstance(value, (int, float)) and not isinstance(value, bool):
            words.append(f"{value:g} {unit}")
    return " " + ", ".join(words) if words else ""


def shades(found: list[Window], height: int) -> list[Markup]:
    """Long windows first, so that a short one inside a long one stays visible."""
    parts = []
    for window in sorted(found, key=lambda window: window.start - window.settled):
        family = window.fault.family
        parts.append(
            element(
                "rect",
                element("title", window.title),
                x=percent(window.start),
                y=0,
                width=percent(max(window.heal - window.start, 0.002)),
                height=height,
                class_=f"shade shade-{family}",
            )
        )
        if window.settled > window.heal:
            parts.append(
                element(
                    "rect",
                    element("title", window.title),
                    x=percent(window.heal),
                    y=0,
                    width=percent(window.settled - window.heal),
                    height=height,
                    class_=f"shade settle shade-{family}",
                )
            )
    return parts


def labels(found: list[Window], rows_max: int) -> tuple[list[Markup], int]:
    """Kind and target above the plot, laid out for a wide page and for a narrow one; and the height they need."""
    wide, wide_rows = _labels(found, rows_max, WIDE_PX, "wide-only")
    narrow, narrow_rows = _labels(found, rows_max, NARROW_PX, "narrow-only")
    return [*wide, *narrow], LABEL_ROW_PX * max(wide_rows, narrow_rows)


def _labels(found: list[Window], rows: int, width_px: int, class_: str) -> tuple[list[Markup], int]:
    parts = []
    taken = [0.0] * rows
    for window in found:
        text_px = len(window.fault.label) * LABEL_LETTER_PX + 10
        start_px = min(window.start * width_px, width_px - text_px)
        row = next((row for row in range(rows) if taken[row] <= start_px), None)
        if row is None or text_px > width_px:
            continue
        taken[row] = start_px + text_px
        parts.append(
            element(
                "text",
                window.fault.label,
                x=percent(max(0.0, start_px / width_px)),
                y=-6 - LABEL_ROW_PX * row,
                class_=f"fault-label ink-{window.fault.family} {class_}",
            )
        )
    return parts, sum(end > 0 for end in taken)
