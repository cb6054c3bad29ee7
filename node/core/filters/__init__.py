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
"""

from __future__ import annotations

from functools import lru_cache

from node.core.filters.attr import content as attr_content
from node.core.filters.attr.filter import attr_filter
from node.core.filters.attr.syntax import Scalar
from node.core.filters.base import Filter
from node.core.filters.errors import ContentError, FilterError

__all__ = ["LANGS", "ContentError", "Filter", "FilterError", "check_content", "parse", "parse_content"]

LANGS = ("attr",)

_CACHED_FILTERS_MAX = 1 << 15
_CACHED_TEXT_LENGTH_MAX = 1024


def parse(text: str, lang: str = "attr") -> Filter:
    """The filter that a text means; raises FilterError. Texts of usual length are remembered."""
    if lang not in LANGS:
        raise FilterError(f"the language {lang!a} is not known in this version, only attr is", text, 0)
    return _cached(text) if len(text) <= _CACHED_TEXT_LENGTH_MAX else attr_filter(text)


def check_content(content: object, lang: str = "attr") -> None:
    """Raises ContentError unless this may be published."""
    if lang not in LANGS:
        raise ContentError(f"the language {lang!a} is not known in this version, only attr is")
    attr_content.check(content)


def parse_content(text: str) -> dict[str, Scalar]:
    """A content from JSON text that a person wrote; raises ContentError."""
    return attr_content.read(text)


_cached = lru_cache(maxsize=_CACHED_FILTERS_MAX)(attr_filter)
