"""Line charts of anything over anything, as inline SVG that fits every page width while its text keeps its size."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from markupsafe import Markup

from controller.audit.report.scales import Linear, Log, Scale, durations_scale, round_steps
from controller.audit.report.svg import element, group, percent
from controller.pages.tables import number
from controller.text import clean

GRID = 1000
HEIGHT_PX = 280
AXIS_PX = 24
INKS = 8
DASHES = 4
# More points than this are a line, not a row of spots.
SPOTS_MAX = 40
SMALLEST = 1e-12
CAPTION_LIMIT = 2000

Points = Sequence[tuple[float, float]]
Written = Callable[[float], str]


def chart(
    series: Mapping[str, Points],
    x_title: str,
    y_title: str,
    *,
    log_x: bool = False,
    log_y: bool = False,
    caption: str = "",
    written_x: Written = number,
    written_y: Written = number,
) -> Markup:
    """One line per series, in the order given, with a legend above and the titles at the axes.

    A value that is not finite is left out; on a logarithmic axis 0 and less stand at its lower end, hollow.
    """
    x_title, y_title = clean(x_title), clean(y_title)
    kept = {clean(name): _finite(points) for name, points in series.items()}
    xs = [x for points in kept.values() for x, _ in points]
    ys = [y for points in kept.values() for _, y in points]
    if not xs:
        return element("p", f"{y_title}: nothing was measured.", class_="none")
    x_scale: Scale = durations_scale(xs) if log_x else Linear(*_apart(min(xs), max(xs)), 6)
    y_scale: Scale = durations_scale(ys) if log_y else _rounded(min(0.0, *ys), max(0.0, *ys))
    lines, spots = [], []
    for position, (name, points) in enumerate(kept.items()):
        lines.append(_line(position, points, x_scale, y_scale))
        if len(points) <= SPOTS_MAX:
            spots += _spots(position, name, points, x_scale, y_scale, (written_x, written_y))
    stretched = element(
        "svg", *lines, width="100%", height=HEIGHT_PX, viewBox=f"0 0 {GRID} {GRID}", preserveAspectRatio="none"
    )
    parts = [*_rules(y_scale, written_y), *_ticks(x_scale, written_x), stretched, group(spots)]
    told = f"{y_title} over {x_title}: {', '.join(kept)}"
    svg = element("svg", *parts, width="100%", height=HEIGHT_PX, role="img", aria_label=told, overflow="visible")
    return element(
        "figure",
        _legend(list(kept)),
        element("p", y_title + (" (logarithmic)" if log_y else ""), class_="y-title"),
        element("div", svg, class_="chart", style=f"padding-bottom:{AXIS_PX}px"),
        element("p", x_title + (" (logarithmic)" if log_x else ""), class_="x-title"),
        *([element("figcaption", clean(caption, CAPTION_LIMIT))] if caption else []),
        class_="curves",
    )


def _finite(points: Points) -> list[tuple[float, float]]:
    return [(_or_zero(x), _or_zero(y)) for x, y in points if math.isfinite(x) and math.isfinite(y)]


def _or_zero(value: float) -> float:
    """What no picture can tell from nothing: an axis down to the smallest float has no sensible ticks."""
    return value if abs(value) >= SMALLEST else 0.0


def _apart(low: float, high: float) -> tuple[float, float]:
    """An axis needs some length, also under a single value."""
    if high - low > SMALLEST * max(1.0, abs(low), abs(high)):
        return low, high
    return (low, low + 1) if low == 0 else (low - abs(low) / 2, low + abs(low) / 2)


def _rounded(low: float, high: float) -> Linear:
    low, high = _apart(low, high)
    steps = round_steps(low, high, 5)
    step = steps[1] - steps[0] if len(steps) > 1 else high - low
    return Linear(math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step, 5)


def _ink(position: int) -> str:
    return f"series-{position % INKS + 1}"


def _dash(position: int) -> str:
    """So that the lines can be told apart without colours, too."""
    return f"dash-{position % DASHES + 1}"


def _line(position: int, points: Points, x_scale: Scale, y_scale: Scale) -> Markup:
    steps = "L".join(f"{x_scale.place(x) * GRID:.1f} {(1 - y_scale.place(y)) * GRID:.1f}" for x, y in points)
    return element("path", d=f"M{steps}" if len(points) > 1 else "", class_=f"line {_ink(position)} {_dash(position)}")


def _spots(
    position: int, name: str, points: Points, x_scale: Scale, y_scale: Scale, written: tuple[Written, Written]
) -> list[Markup]:
    spots = []
    for x, y in points:
        is_off = (isinstance(y_scale, Log) and y <= 0) or (isinstance(x_scale, Log) and x <= 0)
        spots.append(
            element(
                "circle",
                element("title", f"{name}: {written[1](y)} at {written[0](x)}"),
                cx=percent(x_scale.place(x)),
                cy=(1 - y_scale.place(y)) * HEIGHT_PX,
                r=3.5,
                class_=f"spot {_ink(position)}" + (" is-hollow" if is_off else ""),
            )
        )
    return spots


def _rules(scale: Scale, written: Written) -> list[Markup]:
    parts = []
    for value in scale.ticks():
        y = (1 - scale.place(value)) * HEIGHT_PX
        parts.append(element("line", x1=0, x2="100%", y1=y, y2=y, class_="grid"))
        parts.append(element("text", written(value), x=-8, y=y + 4, text_anchor="end", class_="tick"))
    return parts


def _ticks(scale: Scale, written: Written) -> list[Markup]:
    """Every second one gives way on a narrow page."""
    parts = [element("line", x1=0, x2="100%", y1=HEIGHT_PX, y2=HEIGHT_PX, class_="base")]
    for position, value in enumerate(scale.ticks()):
        place = percent(scale.place(value))
        class_ = "tick wide-only" if position % 2 else "tick"
        parts.append(element("line", x1=place, x2=place, y1=HEIGHT_PX, y2=HEIGHT_PX + 4, class_="tick-mark"))
        parts.append(element("text", written(value), x=place, y=HEIGHT_PX + 18, text_anchor="middle", class_=class_))
    return parts


def _legend(names: list[str]) -> Markup:
    if len(names) < 2:
        return Markup()
    keys = []
    for position, name in enumerate(names):
        line = element("line", x1=0, x2=30, y1=6, y2=6, class_=f"key-line {_dash(position)}")
        key = element("svg", line, width=30, height=12, class_=_ink(position), aria_hidden="true")
        keys.append(element("span", key, name))
    return element("div", *keys, class_="legend above")
