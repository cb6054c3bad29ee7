"""The languages: filters in normal form that match contents, cover and intersect each other.

Attribute filters (`lang` "attr"):

* Equivalent filters are equal after `parse`, within the limits below: `x > 3 and x > 5` is `x > 5`,
  `x >= 1 and x <= 1.0` is `x = 1`, a conjunction that another one covers is gone. Integers are signed 64-bit.
* A filter that no content can match is `never < ""`; it covers only filters of its kind and every filter covers it.
* `covers` is sound, transitive, and mutual only between equal filters. It asks that each conjunction of the other is
  covered by a single one of ours, so it says no where only several together do: `x >= 0 and x <= 5` by
  `x >= 0 and x <= 3 or x >= 2 and x <= 5`; `x != 3` by `x < 3 or x > 3`; `x = true or x = false` is not the same as
  anything else. Between single conjunctions it is exact but for one corner: that a string has a certain part
  because the ends of its range leave no room (each string >= "\\U0010fffe\\U0010ffff" contains "\\U0010ffff") is not
  seen unless the part lies in the range's common prefix.
* `intersects` is exact.
* `merge` gives a filter if it has fewer conjunctions than the two together: one covers another, or two differ in the
  values of one attribute and those of both are one set (`x < 3` and `x >= 3 and x < 5`; `x < 3` and `x > 3`).

XPath patterns (`lang` "xpath"):

* A pattern is a tree of steps; it is the same whether a branch is a predicate or the path's continuation: `/a[b]/c` is
  `/a[c]/b`. The normal form (`xpath/normal.py`) has no branch that follows from another, and `//` wherever `/` means
  the same: `/a/*//b` and `/a//*/b` are `/a//*//b`, and what matches every document is `//*`.
* A filter that no document can match is `/never[.="1"][.="2"]`: two values for one attribute or one text, or a text
  below a given text of which it is no part.
* `covers` asks whether one tree can be laid onto the other. That is sound, transitive (lay twice), and mutual only
  between equal filters. It says no where
  - `//` may be one level or more, and the two need different places for a step: `//*[a]//b` covers `/a//a/b`, where
    the `*` is the parent of the inner `a`, which is no step of the pattern (exact containment is coNP-hard);
  - a text says more than itself: `//b[.=""]` and `//a[.=""]/b`; texts of branches that do not fit into that of the
    step above, or leave no room beside each other, are not seen to be impossible.
* `intersects` says yes wrongly only for such texts.
* `merge` gives a filter if one covers the other, or if they differ in how far apart two steps are: `/a/b` and
  `/a//*//b` are `/a//b`.
* Limits, beyond which a text is refused: `STEPS_MAX`, `TESTS_MAX`, `TEXT_LENGTH_MAX` (`xpath/syntax.py`),
  `NAME_LENGTH_MAX` (`xpath/names.py`); for documents `BYTES_MAX`, `DEPTH_MAX`, `PARTS_MAX` (`xpath/document.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache

from node.core.filters.attr import content as attr_content
from node.core.filters.attr.filter import attr_filter
from node.core.filters.attr.syntax import ANYTHING
from node.core.filters.base import Filter
from node.core.filters.errors import ContentError, FilterError
from node.core.filters.xpath.document import document
from node.core.filters.xpath.filter import xpath_filter
from node.core.records import Content

__all__ = [
    "EVERYTHING",
    "LANGS",
    "ContentError",
    "Filter",
    "FilterError",
    "check_content",
    "parse",
    "parse_content",
]

LANGS = ("attr", "xpath")
# For each language the filter that all its contents match.
EVERYTHING: Mapping[str, str] = {"attr": ANYTHING, "xpath": "//*"}

_CACHED_FILTERS_MAX = 1 << 16
_CACHED_TEXT_LENGTH_MAX = 1024
_PARSERS: dict[str, Callable[[str], Filter]] = {"attr": attr_filter, "xpath": xpath_filter}


def parse(text: str, lang: str = "attr") -> Filter:
    """The filter that a text means; raises FilterError. Texts of usual length are remembered."""
    if lang not in LANGS:
        raise FilterError(_unknown(lang), text, 0)
    return _cached(text, lang) if len(text) <= _CACHED_TEXT_LENGTH_MAX else _PARSERS[lang](text)


def check_content(content: object, lang: str = "attr") -> None:
    """Raises ContentError unless this may be published."""
    if lang not in LANGS:
        raise ContentError(_unknown(lang))
    if lang == "attr":
        attr_content.check(content)
    elif isinstance(content, str):
        document(content)
    else:
        raise ContentError("a document is a text, such as <a/>")


def parse_content(text: str, lang: str = "attr") -> Content:
    """A content from what a person wrote, JSON or XML; raises ContentError."""
    if lang == "attr":
        return attr_content.read(text)
    check_content(text, lang)
    return text


def _unknown(lang: str) -> str:
    return f"the language {lang!a} is not known, only {' and '.join(LANGS)} are"


@lru_cache(maxsize=_CACHED_FILTERS_MAX)
def _cached(text: str, lang: str) -> Filter:
    return _PARSERS[lang](text)
