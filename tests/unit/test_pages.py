"""Pages and charts: everything given is shown, nothing strange gets out of its place, and nothing is fetched."""

from __future__ import annotations

import math
import re
from html.parser import HTMLParser
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from controller.pages import Section, chart, facts, page, table, write

VOID = {"meta", "link", "br", "hr", "img", "input"}
values = st.floats(min_value=-1e9, max_value=1e9) | st.sampled_from([0.0, math.nan, math.inf])
curves = st.dictionaries(st.text(max_size=8), st.lists(st.tuples(values, values), max_size=12), max_size=9)


class _Balanced(HTMLParser):
    """Fails if an element is closed that is not the last one opened."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def balanced(text: str) -> _Balanced:
    parser = _Balanced()
    parser.feed(text)
    parser.close()
    assert parser.open == []
    return parser


@given(curves, st.booleans(), st.booleans())
def test_a_chart_of_anything_is_whole_and_within_its_frame(
    series: dict[str, list[tuple[float, float]]], log_x: bool, log_y: bool
) -> None:
    drawn = str(chart(series, "x", "y", log_x=log_x, log_y=log_y))
    balanced(drawn)
    assert "nan" not in drawn and "inf" not in re.sub(r">[^<]*<", "><", drawn)
    assert all(0 <= float(place) <= 100 for place in re.findall(r'cx="([-0-9.]+)%"', drawn))


def test_each_series_has_its_line_its_spots_and_its_name_in_the_legend() -> None:
    drawn = chart({"xroute": [(100, 3), (1000, 7)], "simple": [(100, 30)]}, "subscriptions", "entries", log_x=True)
    assert drawn.count("<path") == 2 and drawn.count("<circle") == 3
    assert re.findall(r"</svg>(\w+)</span>", drawn) == ["xroute", "simple"]
    assert "<title>xroute: 7 at 1,000</title>" in drawn
    assert "subscriptions (logarithmic)" in drawn and "entries (logarithmic)" not in drawn


def test_zero_on_a_logarithmic_axis_is_marked() -> None:
    drawn = chart({"a": [(1, 0), (2, 10)]}, "x", "y", log_y=True)
    assert drawn.count("is-hollow") == 1


def test_a_chart_without_values_says_so() -> None:
    assert "nothing was measured" in chart({"a": []}, "x", "y")


def test_numbers_stand_right_and_what_is_not_there_is_a_dash() -> None:
    shown = table(["what", "the paper", "here"], [["entries", 1234, None], ["mean", 0.5, 12.34]])
    assert '<td class="number">1,234</td><td class="number">–</td>' in shown
    assert '<td class="number">0.5</td><td class="number">12.3</td>' in shown


def test_a_page_is_whole_escapes_what_it_is_given_and_fetches_nothing(tmp_path: Path) -> None:
    hostile = "<script>alert(1)</script>&\u202e"
    blocks = [
        hostile,
        chart({hostile: [(1, 2)], "b": []}, hostile, hostile, caption=hostile),
        facts([(hostile, hostile)]),
    ]
    text = page(hostile, [Section(hostile, [*blocks, table([hostile], [[hostile]])])], [hostile], hostile, hostile)
    assert not {"script", "link", "img"} & set(balanced(text).seen)
    assert "\u202e" not in text
    assert not re.search(r"(?:src|href)=|url\(|@import|https?:", text)
    assert write(tmp_path / "new" / "page.html", text).read_text() == text
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["page.html"]


def test_a_page_is_made_for_bright_and_dark_screens() -> None:
    text = page("t", [])
    assert 'content="light dark"' in text and "prefers-color-scheme: dark" in text
