"""The report in a real browser: nothing complains, the slider moves the picture, a violation leads to its path."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from controller.audit.report import write_report
from tests.browser import Browser
from tests.unit import report_runs as runs

LEFT, RIGHT, TAB, ENTER = "\ue012", "\ue014", "\ue004", "\ue007"
LOADS = "return [...document.querySelectorAll('.overlay .load')].map(line => line.getAttribute('class'))"
TOLD = "return document.getElementById('moment-told').textContent"
MOVE = "const s = document.getElementById('moment'); s.value = arguments[0]; s.dispatchEvent(new Event('input'))"

# Contrast of every visible text to what is painted behind it, as WCAG 2 defines it; the worst with its text.
CONTRAST = r"""
const rgb = text => text.match(/[\d.]+/g).map(Number);
const lit = ([r, g, b]) => [r, g, b].map(v => v / 255).map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
  .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
const behind = element => {
  for (let one = element; one; one = one.parentElement) {
    const colour = rgb(getComputedStyle(one).backgroundColor);
    if (colour.length < 4 || colour[3] === 1) return colour;
  }
  return [255, 255, 255];
};
let worst = [99, ""];
for (const element of document.querySelectorAll("main *, header *, footer *")) {
  const own = [...element.childNodes].some(node => node.nodeType === 3 && node.textContent.trim());
  if (!own || !element.checkVisibility() || element.closest("svg") || element.disabled) continue;
  const [a, b] = [lit(rgb(getComputedStyle(element).color)), lit(behind(element))].sort((x, y) => y - x);
  const ratio = (a + .05) / (b + .05);
  if (ratio < worst[0]) worst = [ratio, element.textContent.trim().slice(0, 60)];
}
return worst;
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser() as opened:
        yield opened


def with_loads(run: Path) -> Path:
    """A failing run whose links were used at different times."""
    runs.failing(run)
    rows: dict[str, list[Any]] = {name: [] for name in ("a", "b", "t", "publications", "control")}
    for second in range(64):
        for place, (a, b) in enumerate((("root", "north"), ("south", "root"))):
            for name, value in zip(rows, (a, b, runs.START_T + second * runs.S, second * (place + 1), 1), strict=True):
                rows[name].append(value)
    runs.write_table(run, "link_load", rows)
    return run


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    made = {
        "pass": runs.passing, "fail": with_loads, "unknown": runs.undecided, "minimal": runs.minimal,
        "hostile": runs.hostile, "large": lambda run: runs.large(run, runs.transit_stub(200)),
    }  # fmt: skip
    return {name: write_report(make(folder / name)) for name, make in made.items()}


@pytest.mark.parametrize("name", ["pass", "fail", "unknown", "minimal", "hostile", "large"])
def test_no_page_complains_or_scrolls_sideways(browser: Browser, pages: dict[str, Path], name: str) -> None:
    for width in (1280, 400):
        browser.open(pages[name], width)
        assert browser.run("return document.documentElement.scrollWidth") <= width
        if browser.run("return document.querySelector('#replay-controls:not([hidden])') !== null"):
            browser.run(MOVE, 7)
        assert browser.complaints() == []


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("name", ["pass", "fail", "unknown"])
def test_every_text_can_be_read(browser: Browser, pages: dict[str, Path], name: str, dark: bool) -> None:
    browser.open(pages[name], dark=dark)
    ratio, text = browser.run(CONTRAST)
    assert ratio >= 4.5, text


def test_the_slider_moves_the_picture_and_the_whole_run_comes_back(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["fail"])
    whole = browser.run(LOADS)
    pictures = []
    for moment in (2, 20, 61):
        browser.run(MOVE, moment)
        pictures.append((browser.run(LOADS), browser.run(TOLD)))
    assert len({str(loads) for loads, _ in pictures}) == 3
    assert "cut root-south" in pictures[1][1] and "cut root-south" not in pictures[0][1]
    hidden = "return [...document.querySelectorAll('.mark.over')].length"
    assert browser.run(hidden) > 0
    browser.run("document.getElementById('whole').click()")
    assert browser.run(LOADS) == whole and browser.run(TOLD) == "the whole run" and browser.run(hidden) == 0


def test_the_keyboard_alone_replays_a_run(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["fail"])
    browser.run("document.getElementById('play').focus()")
    browser.press(TAB)
    assert browser.run("return document.activeElement.id") == "moment"
    assert browser.run("return getComputedStyle(document.activeElement).outlineStyle") != "none"
    browser.press(RIGHT, RIGHT, RIGHT, LEFT)
    told = browser.run(TOLD)
    assert told.startswith("2.5 s · warm")
    assert browser.run("return document.activeElement.getAttribute('aria-valuetext')") == told


def test_play_goes_on_by_itself_until_it_is_paused(browser: Browser, pages: dict[str, Path]) -> None:
    from tests.integration.lab import until

    browser.open(pages["fail"])
    browser.run("document.getElementById('play').focus()")
    browser.press(ENTER)
    until(lambda: int(browser.run("return document.getElementById('moment').value")) > 2, "the slider moves")
    browser.press(ENTER)
    assert browser.run("return document.getElementById('play').textContent") == "Play"


def test_a_violation_leads_to_its_path_step_by_step(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["fail"])
    browser.run("document.querySelector('.violation .show').click()")
    lit = "return [...document.querySelectorAll('.broker.lit')].map(one => one.dataset.node).sort()"
    assert browser.run(lit) == ["north", "root", "south", "south1", "south3"]
    assert browser.run(TOLD).startswith("step 9 of 9: +3.28 ms south3 forwards to c501")
    assert browser.run("return document.activeElement.id") == "moment"
    for _ in range(7):
        browser.press(LEFT)
    assert browser.run(lit) == ["south", "south1"]
    assert browser.run(TOLD).startswith("step 2 of 9: ")


def test_search_filters_and_sorting_sorts(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["fail"])
    shown = "return [...document.querySelectorAll('section > .violations .violation')].filter(e => e.checkVisibility())"
    shown += ".map(e => e.dataset.client)"
    everyone = browser.run(shown)
    assert len(everyone) == 41
    browser.run("document.getElementById('filter').focus()")
    browser.press(*"cut root-south")
    assert 0 < len(browser.run(shown)) < 41
    assert browser.run("return document.getElementById('filter-count').textContent") == "13 of 41"
    browser.run("const f = document.getElementById('filter'); f.value = ''; f.dispatchEvent(new Event('input'))")
    browser.run("const s = document.getElementById('sort'); s.value = 'fault'; s.dispatchEvent(new Event('change'))")
    faults = browser.run("return [...document.querySelector('.violations').querySelectorAll('.violation')]"
                         ".map(e => e.dataset.fault)")  # fmt: skip
    assert faults == sorted(faults) and len(set(faults)) == 2
