"""The overlay's drawing: everybody has a place of their own, trees grow downwards, loads fall into their steps."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from controller.audit.report import drawing, write_report
from controller.audit.report.layout import Layout, lay_out
from controller.audit.report.model import Broker, Link
from controller.audit.report.reading import read_run
from tests.unit import report_runs as runs


def overlay(pairs: list[tuple[str, str]]) -> Layout:
    names = dict.fromkeys(name for pair in pairs for name in pair)
    return lay_out(tuple(Broker(name, "", "") for name in names), tuple(Link(a, b, 0) for a, b in pairs))


@st.composite
def overlays(draw: st.DrawFn) -> list[tuple[str, str]]:
    size = draw(st.integers(2, 40))
    pairs = [(f"b{draw(st.integers(0, n - 1))}", f"b{n}") for n in range(1, size)]
    for a, b in draw(st.lists(st.tuples(st.integers(0, size - 1), st.integers(0, size - 1)), max_size=6)):
        if a != b:
            pairs.append((f"b{a}", f"b{b}"))
    return pairs


@settings(max_examples=60, deadline=None)
@given(overlays())
def test_every_broker_stands_inside_the_box_and_nobody_on_another(pairs: list[tuple[str, str]]) -> None:
    layout = overlay(pairs)
    assert set(layout.places) == {name for pair in pairs for name in pair} == set(layout.sides)
    for x, y in layout.places.values():
        assert -1e-9 <= x <= 1 + 1e-9 and -1e-9 <= y <= 1 + 1e-9
    for one, other in itertools.combinations(layout.places.values(), 2):
        assert abs(one[0] - other[0]) > 1e-4 or abs(one[1] - other[1]) > 1e-4


@settings(max_examples=30, deadline=None)
@given(overlays())
def test_the_drawing_does_not_depend_on_the_order_of_the_file(pairs: list[tuple[str, str]]) -> None:
    assert overlay(pairs).places == overlay([(b, a) for a, b in reversed(pairs)]).places


def test_a_tree_grows_from_its_centre() -> None:
    layout = overlay([("leaf1", "mid"), ("mid", "leaf2"), ("mid", "leaf3"), ("leaf3", "far"), ("leaf1", "far2")])
    assert layout.shape == "rows"
    assert layout.places["mid"][1] == 0
    assert layout.places["leaf1"][1] == layout.places["leaf3"][1] == 0.5
    assert layout.places["far"][1] == 1


@pytest.mark.parametrize(
    ("pairs", "shape"),
    [
        ([("a", "b"), ("b", "c")], "line"),
        ([("a", "b"), ("b", "c"), ("c", "a")], "net"),
        ([("a", "b"), ("c", "d")], "net"),
        ([("hub", f"b{n}") for n in range(4)], "rows"),
        ([("hub", f"b{n}") for n in range(60)], "rings"),
    ],
)
def test_the_shape_suits_the_overlay(pairs: list[tuple[str, str]], shape: str) -> None:
    assert overlay(pairs).shape == shape


def test_brokers_without_links_stand_side_by_side() -> None:
    layout = lay_out((Broker("b1", "", ""), Broker("b2", "", "")), ())
    left, right = sorted(x for x, _ in layout.places.values())
    assert left + right == pytest.approx(1) and right - left > 0.1
    assert [y for _, y in layout.places.values()] == [0.5, 0.5]
    assert lay_out((Broker("b1", "", ""),), ()).places == {"b1": (0.5, 0.45)}


def test_a_ring_is_drawn_round() -> None:
    layout = overlay([(f"b{n}", f"b{(n + 1) % 6}") for n in range(6)])
    for n in range(6):
        (x, y), (across_x, across_y) = layout.places[f"b{n}"], layout.places[f"b{(n + 3) % 6}"]
        assert x + across_x == pytest.approx(1, abs=0.02)
        assert y + across_y == pytest.approx(1, abs=0.02)


@pytest.mark.parametrize("topology", [runs.transit_stub(200), runs.wide_tree(200)])
def test_two_hundred_brokers_are_told_apart(topology: dict[str, list[dict[str, str]]], tmp_path: Path) -> None:
    data = read_run(runs.large(tmp_path / "run", topology), 0)
    layout = lay_out(data.brokers, data.links)
    near = [
        (one, other)
        for (one, p), (other, q) in itertools.combinations(layout.places.items(), 2)
        if ((p[0] - q[0]) * 900) ** 2 + ((p[1] - q[1]) * layout.height_px) ** 2 < 8**2
    ]
    assert len(near) <= 4


def test_load_falls_into_the_step_its_legend_names(tmp_path: Path) -> None:
    data = read_run(runs.passing(tmp_path / "run"), 0)
    drawn = drawing.draw(data)
    assert drawn is not None
    ranges = {step.level: [int(part.replace(",", "")) for part in step.text.split("–")] for step in drawn.steps[1:]}
    svg = str(drawn.svg)
    for link in data.links:
        part = svg[svg.index(f'data-a="{link.a}" data-b="{link.b}"') :]
        levels = [int(level) for level in re.findall(r"load load-(\d)", part)[:2]]
        for level, pair in zip(levels, ((link.a, link.b), (link.b, link.a)), strict=True):
            low, high = ranges[level][0], ranges[level][-1]
            assert low <= data.loads[pair].messages <= high


def _luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _contrast(one: str, other: str) -> float:
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_contrast_enough_in_light_and_dark(scheme: str, tmp_path: Path) -> None:
    page = write_report(runs.minimal(tmp_path / "run")).read_text(encoding="utf-8")
    light, dark = re.findall(r":root \{(.*?)\}", page, re.DOTALL)[:2]
    colours = dict(re.findall(r"--([a-z0-9-]+): (#[0-9a-f]{6})", light))
    if scheme == "dark":
        colours |= dict(re.findall(r"--([a-z0-9-]+): (#[0-9a-f]{6})", dark))
    pairs = [(ink, ground) for ink in ("text", "soft", "link") for ground in ("card", "page")]
    pairs += [(ink, "card") for ink in ("death", "stop", "cut", "slow", "other", "pass", "fail", "unknown")]
    pairs += [(ink, f"{verdict}-tint") for verdict in ("pass", "fail", "unknown") for ink in (verdict, "text")]
    weak = [(ink, ground) for ink, ground in pairs if _contrast(colours[ink], colours[ground]) < 4.5]
    assert weak == []
    lines = ("p50", "p90", "p99", "depth", "load-4", "load-5", "body")
    assert [line for line in lines if _contrast(colours[line], colours["card"]) < 3] == []
