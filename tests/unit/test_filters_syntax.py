from __future__ import annotations

import pytest

from node.core.filters import FilterError, parse


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ('class = "stock" and price > 10 or sym prefix "IB"', 'class = "stock" and price > 10 or sym prefix "IB"'),
        ("*", "*"),
        (" \t\r\n* ", "*"),
        ("x=1", "x = 1"),
        ("\tx\n<=\r-1 ", "x <= -1"),
        ("x-y.z_1<-1.5e1", "x-y.z_1 < -15"),
        ("exists exists and prefix exists", "exists exists and prefix exists"),
        ("and = 1 and or = 2 or or exists", "and = 1 and or = 2 or or exists"),
        ('prefix prefix "suffix"', 'prefix prefix "suffix"'),
        ("true = true and false != true", "false = false and true = true"),
        ('x = "and"', 'x = "and"'),
        ('x = "a or y = 1"', 'x = "a or y = 1"'),
        (r'x = "\"\\\/\b\f\n\r\t\u0041"', r'x = "\"\\/\b\f\n\r\tA"'),
        (r'x = "\ud83d\ude00"', 'x = "😀"'),
        ('x = "é\u2028"', r'x = "\u00e9\u2028"'),
        ("x = 1e3", "x = 1000"),
        ("x = -0.0", "x = 0"),
        ("x = 9223372036854775807", "x = 9223372036854775807"),
        ("x = -9223372036854775808", "x = -9223372036854775808"),
        ("x = 9223372036854775808.0", "x = 9.223372036854775808e18"),
        ("x = 1e300", "x = 1e+300"),
    ],
)
def test_texts_that_are_filters(text, normal):
    assert parse(text) == parse(normal)


@pytest.mark.parametrize(
    ("text", "position", "says"),
    [
        ("", 0, "name is expected"),
        ("  ", 2, "name is expected"),
        ("x", 1, "one of = != < <= > >= prefix suffix contains exists is expected, not the end"),
        ("x = ", 4, "a value is expected"),
        ("x =", 3, "a value is expected"),
        ("x prefix", 8, "a value is expected"),
        ("x ~ 1", 2, "not `~`"),
        ("x == 1", 3, "not `=`"),
        ("x ! 1", 2, "not `!`"),
        ("x = 1 and", 9, "after `and`"),
        ("x = 1 or ", 9, "after `or`"),
        ("x = 1 y = 2", 6, "`and`, `or` or the end"),
        ("x = 1 AND y = 2", 6, "`and`, `or` or the end"),
        ('x = "a"and y = 2', 7, "a space"),
        ('x = "a""b"', 7, "a space"),
        ("x = 1and y = 2", 4, "not `1and`"),
        ('x prefix"a"', 8, "a space is missing after `prefix`"),
        ("x exists=1", 8, "a space"),
        ("and and = 1", 4, "not `and`"),
        ("1x = 1", 0, "name is expected"),
        ("_x = 1", 0, "name is expected"),
        ("é = 1", 0, "name is expected"),
        ("xé = 1", 1, "a name has only ASCII letters"),
        ("(x = 1)", 0, "no parentheses"),
        ("* or x = 1", 0, "`*` stands alone"),
        ("x = 1 or *", 9, "`*` stands alone"),
        ("x prefix 1", 9, "`prefix` takes a string"),
        ("x contains true", 11, "`contains` takes a string"),
        ("x < true", 4, "only `=` and `!=`"),
        ("x = null", 4, "not `null`"),
        ("x = True", 4, "not `True`"),
        ("x = 'a'", 4, "double quotes"),
        ("x = a", 4, "double quotes"),
        ("x = +1", 4, "not `+1`"),
        ("x = 01", 4, "not `01`"),
        ("x = 1.", 4, "not `1.`"),
        ("x = .5", 4, "not `.5`"),
        ("x = ٣", 4, "value is expected"),
        ("x = NaN", 4, "not `NaN`"),
        ("x = -Infinity", 4, "not `-Infinity`"),
        ("x = 1e999", 4, "too large"),
        ("x = 9223372036854775808", 4, "64 bits"),
        ("x = -9223372036854775809", 4, "64 bits"),
        ("x = " + "9" * 5000, 4, "64 bits"),
        ('x = "a', 4, "no end"),
        ('x = "a\\"', 4, "no end"),
        (r'x = "a\q"', 6, "backslash"),
        (r'x = "\u12"', 5, "backslash"),
        ('x = "a\tb"', 6, "control character"),
        (r'x = "a\ud800b"', 6, "surrogate"),
        (r'x = "\ud83d\ude00\ude00"', 17, "surrogate"),
        (r'x = "\\\udc00"', 7, "surrogate"),
        ('x = "\ud800"', 5, "surrogate"),
        ("x\u00a0= 1", 1, "a name has only ASCII letters"),
    ],
)
def test_texts_that_are_not(text, position, says):
    with pytest.raises(FilterError) as caught:
        parse(text)
    assert says in str(caught.value)
    assert caught.value.position == position
    assert caught.value.text == text
    assert len(str(caught.value).splitlines()) == 1 and str(caught.value).isprintable()
    shown, caret = caught.value.pointer().split("\n")
    assert caret.strip() == "^" and len(caret) <= len(shown) + 1


def test_the_caret_stands_below_the_character():
    with pytest.raises(FilterError) as caught:
        parse('a = 1 and\nb = "x\ty"')
    assert caught.value.pointer() == 'a = 1 and b = "x y"\n                ^'


def test_the_caret_stands_below_the_character_of_a_long_text_too():
    text = " and ".join(f"n{number} = {number}" for number in range(100)) + " and bad ? 1" + " and y = 1" * 50
    with pytest.raises(FilterError) as caught:
        parse(text)
    shown, caret = caught.value.pointer().split("\n")
    assert shown[len(caret) - 1] == "?" and len(shown) < 130


def test_an_unknown_language_is_refused():
    with pytest.raises(FilterError, match="'xslt' is not known, only attr and xpath are"):
        parse("/a/b", "xslt")
