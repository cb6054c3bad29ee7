"""Figures as a table for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tests.bench.measure import Figure, Section


def lines(sections: Iterable[Section]) -> Iterator[str]:
    for section in sections:
        width = max(len(figure.what) for figure in section.figures)
        yield section.title
        for figure in section.figures:
            line = f"  {figure.what:<{width}}  {_number(figure.value):>11} {figure.unit:<14} {_ratio(figure)}"
            yield line.rstrip()
        yield ""


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _ratio(figure: Figure) -> str:
    if figure.baseline is None:
        return "baseline"
    ratio = figure.value / figure.baseline if figure.baseline else float("nan")
    return f"{ratio:,.0f} ×" if ratio >= 100 else f"{ratio:.3g} ×"
