"""Charts over the run's time as inline SVG.

Horizontal places are percentages and lines keep their width when stretched, so one chart serves every page width
while its text keeps its size.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from markupsafe import Markup

from controller.audit.report.model import Fault
from controller.audit.report.scales import Scale, TimeAxis
from controller.audit.report.svg import element, group, percent
from controller.audit.report.windows import labels, shades, windows

GRID = 1000
AXIS_PX = 24
LABEL_ROWS = 3

Points = list[tuple[int, float]]


@dataclass(frozen=True)
class Series:
    name: str
    style: str
    points: Points


@dataclass(frozen=True)
class Band:
    """The room between two series over the same buckets."""

    style: str
    lower: Points
    upper: Points


@dataclass(frozen=True)
class Plot:
    axis: TimeAxis
    faults: tuple[Fault, ...]
    height: int
    bucket_ns: int
    described: str


def line_chart(
    plot: Plot, scale: Scale, written: Callable[[float], str], series: list[Series], band: Band | None = None
) -> Markup:
    found = windows(plot.faults, plot.axis)
    names, names_px = labels(found, LABEL_ROWS)
    drawn = [_area(plot, scale, band)] if band else []
    drawn += [_line(plot, scale, one) for one in series]
    parts = [
        *shades(found, plot.height),
        *_grid(plot, scale, written),
        element(
            "svg", *drawn, width="100%", height=plot.height, viewBox=f"0 0 {GRID} {GRID}", preserveAspectRatio="none"
        ),
        *[dot for one in series for dot in _lone_points(plot, scale, one)],
        *names,
        *time_axis(plot.axis, plot.height),
        element("line", y1=0, y2=plot.height, class_="cursor"),
    ]
    return _canvas(parts, plot, names_px + 8)


def _canvas(parts: list[Markup], plot: Plot, top: int) -> Markup:
    svg = element(
        "svg", *parts, width="100%", height=plot.height, role="img", aria_label=plot.described, overflow="visible"
    )
    return element("div", svg, class_="chart", style=f"padding-top:{top}px;padding-bottom:{AXIS_PX}px")


def bar_chart(plot: Plot, scale: Scale, written: Callable[[float], str], points: Points) -> Markup:
    found = windows(plot.faults, plot.axis)
    span = plot.axis.end_t - plot.axis.start_t
    width = max(plot.bucket_ns / span, 0.0008)
    bars = []
    for t, value in points:
        height = scale.place(value) * plot.height
        left = plot.axis.place(t)
        if height > 0:
            bars.append(
                element(
                    "rect",
                    x=percent(left),
                    y=plot.height - height,
                    width=percent(min(width * 0.86, 1 - left)),
                    height=height,
                )
            )
    parts = [*shades(found, plot.height), *_grid(plot, scale, written), group(bars, class_="bars")]
    parts += [*time_axis(plot.axis, plot.height), element("line", y1=0, y2=plot.height, class_="cursor")]
    return _canvas(parts, plot, 10)


def sparkline(plot: Plot, scale: Scale, points: Points) -> Markup:
    """A chart without axes, to be read beside others of the same scale."""
    zero = [(t, 0.0) for t, _ in points]
    parts = [
        *shades(windows(plot.faults, plot.axis), plot.height),
        element("line", x1=0, x2="100%", y1=plot.height, y2=plot.height, class_="base"),
        element(
            "svg",
            _area(plot, scale, Band("fill-depth", zero, points)),
            _line(plot, scale, Series("depth", "line-depth", points)),
            width="100%",
            height=plot.height,
            viewBox=f"0 0 {GRID} {GRID}",
            preserveAspectRatio="none",
        ),
    ]
    return element("svg", *parts, width="100%", height=plot.height, role="img", aria_label=plot.described)


def time_axis(axis: TimeAxis, y: int) -> list[Markup]:
    """Every second tick gives way on a narrow page."""
    parts = [element("line", x1=0, x2="100%", y1=y, y2=y, class_="base")]
    for position, (place, text) in enumerate(axis.ticks()):
        class_ = "tick wide-only" if position % 2 else "tick"
        anchor = "start" if place < 0.01 else "end" if place > 0.97 else "middle"
        parts.append(element("line", x1=percent(place), x2=percent(place), y1=y, y2=y + 4, class_="tick-mark"))
        parts.append(element("text", text, x=percent(place), y=y + 18, text_anchor=anchor, class_=class_))
    return parts


def _grid(plot: Plot, scale: Scale, written: Callable[[float], str]) -> list[Markup]:
    parts = []
    for value in scale.ticks():
        y = (1 - scale.place(value)) * plot.height
        parts.append(element("line", x1=0, x2="100%", y1=y, y2=y, class_="grid"))
        parts.append(element("text", written(value), x=-8, y=y + 4, text_anchor="end", class_="tick"))
    return parts


def _runs(plot: Plot, points: Points) -> list[Points]:
    """Where buckets are missing the line breaks: silence is not a straight line between two sounds."""
    runs: list[Points] = []
    for point in points:
        if runs and point[0] - runs[-1][-1][0] <= plot.bucket_ns * 1.5:
            runs[-1].append(point)
        else:
            runs.append([point])
    return runs


def _spot(plot: Plot, scale: Scale, point: tuple[int, float]) -> tuple[float, float]:
    """In grid units; a bucket is drawn at its middle."""
    x = plot.axis.place(point[0] + plot.bucket_ns / 2) * GRID
    return x, (1 - scale.place(point[1])) * GRID


def _steps(plot: Plot, scale: Scale, points: Points) -> str:
    return "L".join(f"{x:.1f} {y:.1f}" for x, y in (_spot(plot, scale, point) for point in points))


def _line(plot: Plot, scale: Scale, series: Series) -> Markup:
    pieces = [f"M{_steps(plot, scale, run)}" for run in _runs(plot, series.points) if len(run) > 1]
    return element("path", d="".join(pieces), class_=f"line {series.style}")


def _lone_points(plot: Plot, scale: Scale, series: Series) -> list[Markup]:
    spots = [_spot(plot, scale, run[0]) for run in _runs(plot, series.points) if len(run) == 1]
    return [
        element("circle", cx=percent(x / GRID), cy=y / GRID * plot.height, r=2, class_=f"lone {series.style}")
        for x, y in spots
    ]


def _area(plot: Plot, scale: Scale, band: Band) -> Markup:
    pieces = []
    upper = dict(band.upper)
    for run in _runs(plot, band.lower):
        back = [(t, upper[t]) for t, _ in reversed(run) if t in upper]
        if len(run) > 1 and back:
            pieces.append(f"M{_steps(plot, scale, run)}L{_steps(plot, scale, back)}Z")
    return element("path", d="".join(pieces), class_=f"area {band.style}")
